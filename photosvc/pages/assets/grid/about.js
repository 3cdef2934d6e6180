// What visitors see of the photo in the viewer: its date, its place and camera if they may, and its description.

import {make} from "./elements.js";
import {t} from "./words.js";

export class Panel {
  #resized;
  #element = make("aside", {className: "panel", hidden: true, ariaLabel: t("details")});

  constructor(_timeline, _actions, {resized}) { this.#resized = resized; }

  standIn(parent) { parent.append(this.#element); }
  get isOpen() { return !this.#element.hidden; }

  toggle(photo) {
    this.#element.hidden = !this.#element.hidden;
    this.show(photo);
    this.#resized();
  }

  show(photo) {
    if (!this.isOpen || !photo) return;
    const lines = [make("h2", {textContent: photo.title, dir: "auto"}),
      ...[photo.description, photo.about, photo.camera].map((textContent) => make("p", {textContent, dir: "auto"}))];
    this.#element.replaceChildren(...lines.filter(({textContent}) => textContent));
  }

  close() { this.#element.hidden = true; }
  changed() {}
  edit() {}
  leave() {}
}
