// Additions to every page.

const {lang} = document.documentElement, locale = navigator.languages.find((one) => one.startsWith(lang)) ?? lang;
const day = new Intl.DateTimeFormat(locale, {weekday: "long", day: "numeric", month: "long", year: "numeric"});
const moment = new Intl.DateTimeFormat(locale, {dateStyle: "medium", timeStyle: "short"});
for (const element of document.querySelectorAll("time[datetime]")) {
  const text = element.dateTime;
  if (/^\d{4}-\d\d-\d\d$/.test(text)) element.textContent = day.format(new Date(`${text}T12:00`));
  else if ("moment" in element.dataset) element.textContent = moment.format(new Date(text));
  else if (text.endsWith("Z")) element.title = moment.format(new Date(text));
}

const field = document.querySelector(".search input[type=search]");
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select"),
    off = localStorage.getItem("photosvc-keys") === "off";
  if (field && event.key === "/" && !typing && !off && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    field.focus();
    field.select();
  }
});

for (const order of document.querySelectorAll("#order, #sort"))
  order.addEventListener("change", () => order.form.requestSubmit());

// On phones, a touch outside of the menu More closes it, and so does Escape.
const more = document.querySelector(".side .more");
document.addEventListener("click", (event) => {
  if (more?.open && !more.contains(event.target)) more.open = false;
});
more?.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  more.open = false;
  more.querySelector("summary").focus();
});

// Scrolls the current entry of a long navigation into view.
document.querySelector(".crumbs [aria-current]")?.scrollIntoView({block: "nearest", inline: "center"});

// Over plain http browsers have no clipboard: the text is selected and copied as by a key.
for (const button of document.querySelectorAll("[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  button.hidden = false;
  // A path becomes a whole address, for other people.
  if (source.value?.[0] === "/") source.value = location.origin + source.value;
  button.addEventListener("click", async () => {
    if (source.select) {
      source.focus();
      source.select();
    } else getSelection().selectAllChildren(source);
    try {
      await navigator.clipboard.writeText(source.value ?? source.textContent);
    } catch {
      document.execCommand("copy");
    }
    button.textContent = button.dataset.copied;
  });
}

// The share sheet of the system, where there is one.
for (const button of navigator.share ? document.querySelectorAll("[data-share]") : []) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const {value} = document.getElementById(button.dataset.share);
    navigator.share({url: value[0] === "/" ? location.origin + value : value}).catch(() => {});
  });
}

// Progress: its part of the page is loaded again until the end, then the whole page.
const live = document.querySelector("[data-live]");
async function renew() {
  try {
    const text = document.hidden ? "" : await (await fetch(location.href, {credentials: "same-origin"})).text();
    const now = new DOMParser().parseFromString(text, "text/html").querySelector("[data-live]");
    if (now) live.replaceChildren(...now.childNodes);
    else if (text && !document.querySelector("[data-unsaved], :is(input, textarea, select):focus")) location.reload();
  } catch { /* the network is away: the next look may find it */ }
  setTimeout(renew, 2000);
}
if (live) setTimeout(renew, 2000);

addEventListener("beforeunload", (event) => { if (document.querySelector("[data-unsaved]")) event.preventDefault(); });

// Requests thumbnails again that are not made yet, with growing pauses. The viewer does so by itself.
const thumbnails = "img[src*='quiet=']:not(.pswp *)", MOST = 40;
const tries = new WeakMap();
function askAgain(target) {
  const {src, srcset} = target;
  const known = tries.get(target);
  const number = known?.src === src ? known.number + 1 : 1;
  if (!src || number > MOST) return;
  tries.set(target, {src, number});
  setTimeout(() => {
    if (target.src !== src || !target.isConnected) return; // the tile shows another photo by now
    target.removeAttribute("srcset");
    target.src = src;
    if (srcset) target.srcset = srcset;
  }, Math.min(500 + 500 * number, 10000));
}
document.addEventListener("error", ({target}) => {
  if (target.matches?.(thumbnails)) askAgain(target);
}, true);
function askForBroken() {
  for (const image of document.querySelectorAll(thumbnails)) {
    if (image.complete && image.currentSrc && !image.naturalWidth) askAgain(image);
  }
}
askForBroken();  // some were answered before this script was there
// Pictures that failed offline have used up their tries.
addEventListener("online", () => {
  for (const image of document.querySelectorAll(thumbnails)) tries.delete(image);
  askForBroken();
});
