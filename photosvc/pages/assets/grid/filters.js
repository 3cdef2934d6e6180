// The filters of a search as a drawer over the photos, which stays open while values are chosen.

import {button, icon, make} from "./elements.js";
import {t} from "./words.js";

const OPEN = "photosvc-filters";  // set while the drawer is open, also for the next search

// Opens the drawer with the page of filters that a link leads to. `foot` is the text of the button that closes it.
async function open(link, foot, takes) {
  sessionStorage.setItem(OPEN, "1");
  const close = () => {
    sessionStorage.removeItem(OPEN);
    drawer.remove();
    link.setAttribute("aria-expanded", "false");
    link.focus();
  };
  const head = make("header", {}, make("h2", {textContent: t("filters")}),
    button({className: "plain", ariaLabel: t("close")}, close, icon("close")));
  const body = make("div", {className: "filters"});
  const drawer = make("aside", {className: "drawer", ariaLabel: t("filters"), tabIndex: -1}, head, body,
    make("footer", {}, button({className: "primary", textContent: foot}, close)));
  drawer.setAttribute("role", "dialog");
  drawer.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  });
  document.body.append(drawer);
  link.setAttribute("aria-expanded", "true");
  if (takes) drawer.focus();
  try {
    const text = await (await fetch(link.href, {credentials: "same-origin"})).text();
    const found = new DOMParser().parseFromString(text, "text/html").querySelector(".filters");
    body.append(...found.querySelectorAll(":scope > section, :scope > .alert, :scope > .none"));
  } catch {
    body.append(make("p", {className: "alert", textContent: t("unreachable")}));
  }
  const bars = [...body.querySelectorAll(".by-year > ul:first-of-type a")], most = Math.max(...bars.map(countOf));
  for (const bar of bars) bar.style.setProperty("--share", `${Math.round(100 * countOf(bar) / most)}%`);
}

const countOf = (bar) => Number(bar.dataset.count);

// Lets a link to the filters open the drawer. `found()` is the element with the number of photos.
export function filtering(link, found) {
  const foot = () => t("showFound", {num: Number(found()?.textContent.replace(/\D/g, ""))});
  link.setAttribute("aria-haspopup", "dialog");
  link.setAttribute("aria-expanded", "false");
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (!document.querySelector(".drawer")) open(link, foot(), true);
  });
  if (sessionStorage.getItem(OPEN)) open(link, foot(), false);
}
