// How far the index run is that goes on: asked for every two seconds, until it has ended.

const live = document.querySelector("#live");
const pause = 2000;
const number = new Intl.NumberFormat(document.documentElement.lang);
const isUnsaved = () => document.querySelector("[data-unsaved]");
// A text that the page hands over, with these values.
const text = (name, values) => live.dataset[name].replace(/%\((\w+)\)s/g, (_, key) => values[key]);

function tell({running, waiting, runs}) {
  const present = running && runs[0]?.State === "running" ? runs[0] : null;
  const [line, bar] = [live.querySelector("[role=status]"), live.querySelector("progress")];
  if (present) {
    const values = {read: number.format(present.Done), all: number.format(present.Total), folder: present.Path};
    line.textContent = text(present.Path ? "readin" : "read", values);
    bar.max = present.Total || 1;
    bar.value = present.Done;
  } else {
    line.textContent = text(running ? "searched" : "waits");
    bar.removeAttribute("value");
  }
  return running || waiting.length > 0;
}

async function look() {
  if (document.hidden) return setTimeout(look, pause);
  try {
    const answer = await fetch(live.dataset.api, {headers: {"X-Photosvc": "1"}, credentials: "same-origin"});
    if (answer.status === 401 && !isUnsaved()) return location.reload();  // the page leads to the log-in and back
    if (answer.ok && !tell(await answer.json()) && !isUnsaved()) return location.assign(location.pathname);
  } catch { /* the network is away: the next look may find it */ }
  return setTimeout(look, pause);
}

if (live) setTimeout(look, pause);
