// The floating bar of the selected photos.

import {may, site} from "./api.js";
import {icon, make} from "./icons.js";
import {number, t} from "./words.js";

const inArchive = site.archive === "1";
// The name of an action, its label, its picture, and the right that it needs.
const BUTTONS = [
  ["favorite", t("favoriteKey"), "heart", "update"],
  ["private", t("privateKey"), "lock", "update"],
  ["album", t("albumKey"), "album", "albums"],
  ["edit", t("editKey"), "edit", "update"],
  ["remove", t("removeKey"), "remove", "remove"],
  ["archive", t(inArchive ? "unarchiveKey" : "archiveKey"), "archive", "update"],
  ["delete", t(may("remove") ? "delete" : "deleteKey"), "bin", "delete"],
  ["download", t("downloadKey"), "download", "download"],
];

export class Bar {
  #element; #count; #all; #buttons = {};

  // `run` gets the action of a button; `all` selects all photos of the search.
  constructor(run, all) {
    const button = (action, label, picture) => {
      const made = make("button", {type: "button", className: "plain", title: label, ariaLabel: label}, icon(picture));
      made.addEventListener("click", () => run(action));
      this.#buttons[action] = made;
      return made;
    };
    this.#count = make("span", {className: "count", role: "status"});
    this.#all = make("button", {type: "button", className: "plain all"});
    this.#all.addEventListener("click", all);
    this.#element = make("div", {className: "actions", hidden: true, role: "toolbar", ariaLabel: t("selection")}, button("clear", t("clear"), "close"), this.#count, this.#all,
      ...BUTTONS.filter(([, , , needed]) => may(needed)).map(([action, label, picture]) => button(action, label, picture)));
    document.querySelector("main").append(this.#element);
  }

  // The text about the selection in a search with this many photos; an action takes at most `most`.
  show(photos, total, most) {
    const size = photos.length, every = (mark) => size > 0 && photos.every((photo) => photo[mark]);
    this.#element.hidden = size === 0;
    this.#count.replaceChildren(number(size), make("span", {textContent: ` ${t("selected", {num: size})}`}));
    this.#all.hidden = size >= Math.min(total, most);
    this.#all.textContent = t(total > most ? "first" : "all", {most, total});
    for (const mark of ["favorite", "private"]) this.#buttons[mark]?.setAttribute("aria-pressed", every(mark));
  }

  working(text) { this.#element.hidden = false; this.#count.textContent = text; }
}
