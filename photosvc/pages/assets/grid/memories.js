// A row of memories above the photos: loaded after them, and closed for the rest of the day by its button.

import {get, site, thumbnail} from "./api.js";
import {button, icon, make, picture} from "./elements.js";
import {locale, monthName, photos, t} from "./words.js";

const CLOSED = "photosvc-memories";  // the day on which the user closed the row
const FEWEST = 2;
const day = new Intl.DateTimeFormat(locale, {day: "numeric", month: "long", year: "numeric", timeZone: "UTC"});
const dated = (text) => new Date(`${text}T12:00:00Z`);
const today = () => new Date().toDateString();

// The title and the line of a card.
function words({kind, first, last, years, place, count}) {
  if (kind === "day") return [t("onThisDay"), `${t("inYears", {num: years})}, ${photos(count)}`];
  if (kind === "month") return [t("bestOf", {month: monthName(first.slice(0, 7))}), photos(count)];
  if (kind === "trip") return [place || t("trip"), day.formatRange(dated(first), dated(last))];
  return [t("yearsAgo", {num: years}), [place, day.format(dated(first))].filter(Boolean).join(", ")];
}

/** @param {any} memory */
function card(memory) {
  const [title, line] = words(memory), href = `${site.photos}?q=${encodeURIComponent(memory.query)}`;
  const image = picture({src: thumbnail(memory, "tile_500")});
  return make("li", {}, make("a", {href}, image,
    make("span", {dir: "auto"}, make("b", {textContent: title}), make("small", {textContent: line}))));
}

// Shows the row before the grid, unless somebody has scrolled on.
export async function remember(root) {
  if (localStorage.getItem(CLOSED) === today()) return;
  const found = await get("/memories");
  if (found.length < FEWEST || scrollY > 0) return;
  const close = button({className: "plain", ariaLabel: t("closeMemories")}, () => {
    localStorage.setItem(CLOSED, today());
    row.remove();
    document.querySelector("#content").focus({preventScroll: true});
  }, icon("close"));
  const row = make("section", {className: "memories", ariaLabel: t("memories")},
    make("header", {}, make("h2", {textContent: t("memories")}), close), make("ul", {}, ...found.map(card)));
  root.before(row);
}
