// The keys, in a dialog.

import {may} from "./api.js";
import {make} from "./icons.js";
import {countLetters, lettersCount} from "./keys.js";

const KEYS = [
  ["Arrows, Home, End, Page Up, Page Down", "to the next photo, row, screen; with Ctrl to the first and last"],
  ["Enter", "open the photo"],
  ["m M, y Y", "to the next and previous month, year"],
  ["x", "select"],
  ["Shift with arrows or a click", "select up to here"],
  ["Ctrl A, Esc", "select all of this search, clear the selection"],
  ["f", "favorite", "update"],
  ["p", "private", "update"],
  ["a", "archive", "update"],
  ["l", "add to an album", "albums"],
  ["e", "edit the selected photos", "update"],
  ["Delete", "remove from this album", "remove"],
  ["Delete", "delete from the library", "delete"],
  ["d", "download", "download"],
  ["Ctrl Z", "undo the last action", "update"],
  ["/", "search"],
  ["In the viewer: z, i, Space", "zoom, details, play"],
];

export function help() {
  const list = make("dl", {}, ...KEYS.filter(([, , needed]) => !needed || may(needed)).flatMap(([key, meaning]) => [make("dt", {textContent: key}), make("dd", {textContent: meaning})]));
  const letters = make("input", {type: "checkbox", name: "letters", checked: lettersCount()});
  letters.addEventListener("change", () => countLetters(letters.checked));
  const dialog = make("dialog", {className: "ask help", ariaLabel: "Keys"}, make("h2", {textContent: "Keys"}), list,
    make("label", {className: "check"}, letters, "Single letters are keys"),
    make("p", {className: "muted", textContent: "This browser remembers it. With the focus on a photo, ? always opens this list."}),
    make("form", {method: "dialog"}, make("button", {className: "primary", textContent: "Close"})));
  document.body.append(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.showModal();
}
