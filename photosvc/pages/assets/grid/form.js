// The values of one photo as a form: each is saved when its field loses the focus.

import {GROUPS, KEYWORDS, MAIN, TIME, control, fieldOf, sent, shown} from "./fields.js";
import {make} from "./icons.js";

const FIRST = [...MAIN, TIME, KEYWORDS];

export class PhotoForm {
  element = make("form", {className: "edit", noValidate: true});
  #save; #uid = ""; #entries = [];

  // `save(uid, part, saved)` sends the part of a request that `part()` gives, and calls `saved` before it shows the record
  // that is the answer; what it throws is told beside the field.
  constructor(save) {
    this.#save = save;
    this.element.append(...FIRST.flatMap((field) => this.#entry(field)),
      ...GROUPS.map(([title, fields]) => make("details", {}, make("summary", {textContent: title}), ...fields.flatMap((field) => this.#entry(field)))));
    this.element.addEventListener("submit", (event) => { event.preventDefault(); document.activeElement?.blur(); });
    this.element.addEventListener("input", () => this.#mark());
  }

  #entry(field) {
    const input = control(field, `of-${field.name}`, field.name === "Rating" || field.name === "Type" ? null : "");
    const wrong = make("small", {className: "wrong", id: `wrong-${field.name}`, hidden: true});
    const label = make("label", {}, field.label, input), entry = {field, input, wrong, label, known: ""};
    wrong.setAttribute("role", "alert");
    input.setAttribute("aria-describedby", wrong.id);
    input.addEventListener("change", () => this.#leave(entry));
    // What was not saved is sent again, also if nothing else was typed, unless a button beside it asks what to do.
    input.addEventListener("blur", () => { if (!wrong.hidden && !wrong.childElementCount) this.#leave(entry); });
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      input.value = entry.known;
      this.#right(entry);
      this.#mark();
      input.blur();
    });
    this.#entries.push(entry);
    return [label, wrong];
  }

  // Shows a record. Typed values that are not sent yet stay, unless it is another photo or `anew` is set.
  show(record, anew = false) {
    const other = anew || record.UID !== this.#uid;
    this.#uid = record.UID;
    for (const entry of this.#entries) {
      const {field, input} = entry, now = shown(field, record), kept = !other && input.value !== entry.known;
      if (!kept && input.value !== now) input.value = now;
      if (!kept) this.#right(entry);
      entry.known = kept ? now : input.value;  // browsers have their own form of times and ends of lines
      if (field.name === "Country") entry.label.hidden = Boolean(record.Lat || record.Lng);
    }
    this.#mark();
  }

  #right({input, wrong}) {
    wrong.hidden = true;
    input.removeAttribute("aria-invalid");
  }

  // Values that are typed and not saved keep the page from being loaded again.
  #mark() {
    this.element.toggleAttribute("data-unsaved", this.#entries.some(({input, known}) => input.value !== known));
  }

  async #leave(entry) {
    const {field, input, wrong} = entry, uid = this.#uid;
    this.#right(entry);
    if (input.value === entry.known) return;
    const typed = input.value;
    try {
      await this.#save(uid, () => sent(field, typed.trim()), () => { if (this.#uid === uid) entry.known = typed; });
    } catch (error) {
      if (this.#uid !== uid) throw error;
      const own = error.details?.length && fieldOf(error) === field.name;
      wrong.replaceChildren(own ? error.details[0].message : error.message, ...(error.further ?? []));
      wrong.hidden = false;
      input.setAttribute("aria-invalid", "true");
    }
  }
}
