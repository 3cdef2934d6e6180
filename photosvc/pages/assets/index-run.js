// How far the index run is that goes on: asked for every two seconds, until it has ended.

const live = document.querySelector("#live");
const pause = 2000;
const number = new Intl.NumberFormat("en");

function tell({running, waiting, runs}) {
  const present = running && runs[0]?.State === "running" ? runs[0] : null;
  const [text, bar] = [live.querySelector("[role=status]"), live.querySelector("progress")];
  if (present) {
    const folder = present.Path ? ` in ${present.Path}` : "";
    text.textContent = `${number.format(present.Done)} of ${number.format(present.Total)} files read${folder}.`;
    bar.max = present.Total || 1;
    bar.value = present.Done;
  } else {
    text.textContent = running ? "The folders are searched for new and changed files." : "Waiting to begin.";
    bar.removeAttribute("value");
  }
  return running || waiting.length > 0;
}

async function look() {
  if (document.hidden) return setTimeout(look, pause);
  try {
    const answer = await fetch(live.dataset.api, {headers: {"X-Photosvc": "1"}, credentials: "same-origin"});
    if (answer.status === 401) return location.reload();  // the page leads to the log-in and back
    if (answer.ok && !tell(await answer.json())) return location.assign(location.pathname);
  } catch { /* the network is away: the next look may find it */ }
  return setTimeout(look, pause);
}

if (live) setTimeout(look, pause);
