// The photos of albums: choosing an album, adding to it, taking out of it.

import {asked, call, get, portions, post} from "./api.js";
import {make} from "./icons.js";
import {t} from "./words.js";

const MOST_ALBUMS = 500;

// Each gives the UIDs of the photos that it changed.
export const addTo = (album, list) => change(album, list, "POST", "added");
export const takeOut = (album, list) => change(album, list, "DELETE", "removed");

async function change(album, list, method, outcome) {
  const changed = [];
  for (const photos of portions(list)) {
    const {data} = await call(`/albums/${album}/photos`, {method, body: {photos}});
    changed.push(...data[outcome].map((one) => one.PhotoUID));
  }
  return changed;
}

// Albums of chosen photos, the last changed first; with a title, only albums whose titles contain it.
const albums = async (title = "") =>
  (await get(`/albums${asked({count: MOST_ALBUMS, type: "album", order: "edited", q: title})}`)).filter((album) => !album.Filter);

// The album chosen in a dialog, or a new one with the typed title; null if none was chosen.
export async function chooseAlbum(timeline) {
  const known = await albums();
  const field = make("input", {type: "text", id: "album-title", autocomplete: "off", maxLength: 200, required: true, dir: "auto"});
  field.setAttribute("list", "album-titles");
  const list = make("datalist", {id: "album-titles"}, ...known.map((album) => make("option", {value: album.Title})));
  const dialog = make("dialog", {className: "ask", ariaLabel: t("addToAlbum")},
    make("form", {method: "dialog"}, make("label", {htmlFor: "album-title", textContent: t("album")}), field, list,
      make("p", {className: "muted", textContent: t("chooseAlbum")}),
      make("div", {className: "row"}, make("button", {value: "", type: "submit", formNoValidate: true, textContent: t("cancel")}),
        make("button", {value: "yes", className: "primary", textContent: t("add")}))));
  // Enter means the first button of a form.
  field.addEventListener("keydown", (event) => { if (event.key === "Enter" && field.value.trim()) { event.preventDefault(); dialog.close("yes"); } });
  document.body.append(dialog);
  dialog.showModal();
  field.focus();
  await new Promise((resolve) => dialog.addEventListener("close", resolve));
  dialog.remove();
  const title = field.value.trim(), named = (album) => album.Title === title;
  if (dialog.returnValue !== "yes" || !title) return null;
  return known.find(named) || (await albums(title)).find(named) || timeline.changing(() => post("/albums", {Title: title}));
}
