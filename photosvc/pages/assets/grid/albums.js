// The photos of albums: choosing an album, adding to it, taking out of it.

import {queryString, call, get, portions, post} from "./api.js";
import {show} from "./dialog.js";
import {button, make} from "./elements.js";
import {locale, t} from "./words.js";

const MOST_ALBUMS = 500;

// Both return the UIDs of changed photos.
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
  (await get(`/albums${queryString({count: MOST_ALBUMS, type: "album", order: "edited", q: title})}`))
    .filter((album) => !album.Filter);

// The album chosen in a dialog, or a new one with the typed title; null if none was chosen.
export async function chooseAlbum(timeline) {
  const known = await albums();
  const field = make("input", {
    type: "text", id: "album-title", autocomplete: "off", autofocus: true, maxLength: 200, required: true, dir: "auto",
  });
  field.setAttribute("list", "album-titles");
  const list = make("datalist", {id: "album-titles"}, ...known.map((album) => make("option", {value: album.Title})));
  // Enter presses the first submit button of a form, so Cancel must be another kind of button.
  const cancel = button({textContent: t("cancel")}, () => dialog.close());
  const add = make("button", {value: "yes", className: "primary", textContent: t("add")});
  const dialog = make("dialog", {className: "ask", ariaLabel: t("addToAlbum")},
    make("form", {method: "dialog"}, make("label", {htmlFor: "album-title", textContent: t("album")}), field, list,
      make("p", {className: "muted", textContent: t("chooseAlbum")}), make("div", {className: "row"}, cancel, add)));
  // With more albums than these, only the server knows whether the title is new.
  field.addEventListener("input", () => {
    const makes = field.value.trim() && known.length < MOST_ALBUMS && !named(known, field.value);
    add.textContent = t(makes ? "createAlbum" : "add");
  });
  const answer = await show(dialog), title = field.value.trim();
  if (answer !== "yes" || !title) return null;
  return named(known, title) || named(await albums(title), title)
    || timeline.changing(() => post("/albums", {Title: title}));
}

// The album with this title, or else with one that differs only in upper and lower case or in spaces.
function named(found, typed) {
  const plain = (title) => title.trim().replace(/\s+/g, " "), title = plain(typed);
  return found.find((album) => album.Title === typed.trim())
    || found.find((album) => !plain(album.Title).localeCompare(title, locale, {sensitivity: "accent"}));
}
