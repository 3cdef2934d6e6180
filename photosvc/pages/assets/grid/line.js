// The line that reports an action and offers to undo it. Actions run one after the other; Undo means the last one.

import {messageOf} from "./api.js";
import {button, make} from "./elements.js";
import {t} from "./words.js";

const SHOWN = 12000;   // milliseconds

export class Line {
  #element = make("div", {className: "undo", role: "status", hidden: true});
  #back = null;
  #timer = 0;
  #last = Promise.resolve();

  constructor() { this.standIn(document.body); }

  // Moves the line into an element, such as a viewer, which covers the page and keeps the focus.
  standIn(parent) { parent.append(this.#element); }

  // Runs an action after earlier ones, and shows its error.
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

  // `back` undoes the action; `link` has the properties of a link to its result.
  say(text, back = null, link = null, label = t("undo")) {
    this.#back = back || null;
    const children = [make("span", {textContent: text, dir: "auto"})];
    if (link) children.push(make("a", link));
    if (back) children.push(button({className: "plain", textContent: label}, () => this.undo()));
    this.#element.replaceChildren(...children);
    this.#element.hidden = false;
    clearTimeout(this.#timer);
    // Undo stays possible until the next action; only the line disappears.
    if (!link?.onclick) this.#timer = setTimeout(() => { this.#element.hidden = true; }, SHOWN);
  }
}
