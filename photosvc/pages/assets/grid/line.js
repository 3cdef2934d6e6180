// The line that tells what was done, and takes it back. Actions go through it one after the other: each finds what the
// one before left, and Undo means the last one.

import {messageOf} from "./api.js";
import {button, make} from "./elements.js";
import {t} from "./words.js";

const SHOWN = 12000;   // milliseconds that the line stands

export class Line {
  #element = make("div", {className: "undo", role: "status", hidden: true});
  #back = null;
  #timer = 0;
  #last = Promise.resolve();

  constructor() { this.standIn(document.body); }

  // A viewer over the page covers it, and keeps the focus inside.
  standIn(parent) { parent.append(this.#element); }

  // Runs this after earlier actions have ended, and shows its error.
  after(action) {
    this.#last = this.#last.then(action).catch((error) => this.say(messageOf(error)));
    return this.#last;
  }

  undo() {
    return this.after(async () => {
      const back = this.#back;
      if (!back) return;
      this.#back = null;
      this.#element.hidden = true;
      try {
        const message = await back();
        this.say(typeof message === "string" && message ? message : t("undone"));
      } catch (error) {
        this.say(error.message, back, null, t("again"));
      }
    });
  }

  // `back` takes the action back; `link`, the properties of a link, leads to what it made.
  say(text, back = null, link = null, label = t("undo")) {
    this.#back = back || null;
    const children = [make("span", {textContent: text, dir: "auto"})];
    if (link) children.push(make("a", link));
    if (back) children.push(button({className: "plain", textContent: label}, () => this.undo()));
    this.#element.replaceChildren(...children);
    this.#element.hidden = false;
    clearTimeout(this.#timer);
    // Undo stays until the next action, for people who need longer; the line only moves out of the way.
    if (!link?.onclick) this.#timer = setTimeout(() => { this.#element.hidden = true; }, SHOWN);
  }
}
