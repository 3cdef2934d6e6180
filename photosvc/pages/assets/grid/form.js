// The values of one photo, each a line that becomes its fields where it is clicked. A value is saved when its field is
// left.

import {button, icon, make} from "./elements.js";
import {Wrong, control, fieldOf, sent, shown} from "./fields.js";
import {t} from "./words.js";

const PAUSE = 1500;  // milliseconds without another digit
let isPressed = false;
addEventListener("pointerdown", () => { isPressed = true; }, true);
for (const name of ["pointerup", "pointercancel"]) addEventListener(name, () => { isPressed = false; }, true);

// Calls `act` once no pointer is pressed, after its click.
function whenReleased(act) {
  if (!isPressed) act();
  else addEventListener("pointerup", () => setTimeout(act), {once: true, capture: true});
}

export class PhotoForm {
  // The menu of what a photo has no line for.
  adds = make("details", {className: "adds"}, make("summary", {}, icon("add"), t("add")), make("div"));
  // The photo that the form shows, and photos with unsaved values by UID: {uid, tag, own, drafts}. `own`: this page
  // changed it. A draft is a typed value: {text, bad, was, now, sending, error}; `was` is the value of the record when
  // typing began, `now` the present one if somebody changed the photo meanwhile.
  #photo = null;
  #unsaved = new Map();
  #save; #away; #saved;
  #entries = [];
  #lines = new Map();

  // `facts` are the lines by name, each {line, fact}. `save(photo, body, saved, changed)` sends a change, and calls
  // `saved` with the record of the answer. If the photo changed meanwhile it calls `changed` with its record and tag,
  // then sends again unless that throws. `away(uid, message)` reports an error about a photo that is not shown any
  // longer, and `saved(uid, label)` that a value was saved.
  constructor(facts, save, away, saved) {
    this.#save = save;
    this.#away = away;
    this.#saved = saved;
    for (const [name, {line, fact}] of facts) this.#fit(name, line, fact);
    addEventListener("beforeunload", () => this.leave());
    document.addEventListener("visibilitychange", () => { if (document.hidden) this.leave(); });
  }

  // Gives a line its fields.
  #fit(name, {fields}, fact) {
    const box = make("form", {className: "edit", noValidate: true, hidden: true},
      ...fields.flatMap((field) => this.#entry(name, field)));
    const label = t(name), add = button({textContent: label, name}, () => this.open(name));
    fact.element.append(box);
    fact.button.setAttribute("aria-expanded", "false");
    this.adds.lastElementChild.append(add);
    const line = {fact, box, add, one: fields.length === 1};
    this.#lines.set(name, line);
    fact.button.addEventListener("click", () => (box.hidden ? this.open(name) : this.#close(line)));
    box.addEventListener("submit", (event) => event.preventDefault());
    box.addEventListener("focusout", ({relatedTarget}) => {
      // The window lost the focus, not the field.
      if (!document.hasFocus() || fact.element.contains(relatedTarget)) return;
      this.leave();
      // What is being pressed must not move away from the pointer.
      whenReleased(() => { if (!fact.element.contains(document.activeElement)) this.#close(line); });
    });
  }

  // Opens a line at its first field.
  open(name) {
    this.adds.open = false;
    this.#unfold(this.#lines.get(name)).elements[0].focus();
  }

  #unfold({fact, box, one}) {
    box.hidden = fact.element.hidden = false;
    fact.element.classList.add("open", ...(one ? ["one"] : []));
    fact.button.setAttribute("aria-expanded", "true");
    return box;
  }

  // Closes a line unless one of its values waits. `back`: its button gets the focus.
  #close({fact, box}, back = false) {
    if (box.hidden) return;
    if (back) document.activeElement.blur();
    this.leave();
    if ([...box.elements].some(({name}) => this.#photo?.drafts.get(name)?.error)) return;
    box.hidden = true;
    fact.element.classList.remove("open", "one");
    fact.button.setAttribute("aria-expanded", "false");
    this.#tell();
    if (back) (fact.element.hidden ? this.adds.firstElementChild : fact.button).focus();
  }

  // What is empty has no line, but an entry of the menu.
  #tell() {
    let some = false;
    for (const {fact, box, add} of this.#lines.values()) {
      fact.element.hidden = box.hidden && fact.isEmpty && !fact.stays;
      add.hidden = !fact.element.hidden;
      some ||= !add.hidden;
    }
    this.adds.hidden = !some;
  }

  #entry(of, field) {
    const input = control(field, `of-${field.name}`, field.name === "Type" ? null : "");
    const wrong = make("small", {className: "wrong", id: `wrong-${field.name}`, role: "alert", hidden: true});
    const label = make("label", {}, make("span", {textContent: field.label}), input);
    const entry = {of, field, input, wrong, was: "", known: "", timer: 0};
    input.setAttribute("aria-describedby", wrong.id);
    input.addEventListener("input", () => this.#typed(entry));
    const leave = () => this.#leave(this.#photo, entry);
    input.addEventListener("blur", leave);
    // A time changes with each typed digit.
    input.addEventListener("change", () => {
      clearTimeout(entry.timer);
      if (field.kind === "time") entry.timer = setTimeout(leave, PAUSE);
      else leave();
    });
    input.addEventListener("keydown", (event) => this.#key(event, entry));
    this.#entries.push(entry);
    return [label, wrong];
  }

  // Escape restores the value; Enter saves it, also in a text of many lines.
  #key(event, entry) {
    const {key} = event, saves = key === "Enter" && !event.shiftKey && entry.input.tagName !== "SELECT";
    if (event.isComposing || (key !== "Escape" && !saves)) return;
    event.stopPropagation();
    event.preventDefault();  // it would close the viewer, too
    if (key === "Escape") this.#reset(this.#photo, entry);
    this.#close(this.#lines.get(entry.of), true);
  }

  // Shows a record with its entity tag; unsaved values stay.
  show(record, tag) {
    if (record.UID !== this.#photo?.uid) {
      this.leave();
      this.#photo = this.#unsaved.get(record.UID) ?? {uid: record.UID, drafts: new Map()};
      for (const line of this.#lines.values()) this.#close(line);
    }
    Object.assign(this.#photo, {tag, own: false});
    for (const entry of this.#entries) {
      const {field, input} = entry, draft = this.#photo.drafts.get(field.name), probe = input.cloneNode(true);
      probe.value = entry.was = shown(field, record);
      entry.known = probe.value;  // browsers have their own form of times and ends of lines
      if (draft && !draft.sending && draft.was !== entry.was)
        Object.assign(draft, {now: entry.was, error: changedMeanwhile()});
      const value = draft ? draft.text : entry.known;
      if (input.value !== value) input.value = value;
      this.#report(entry);
    }
    this.#tell();
  }

  // Notes that this page changed photos.
  changed(uids) {
    for (const photo of [this.#photo, ...this.#unsaved.values()]) if (uids.has(photo?.uid)) photo.own = true;
  }

  // Writes a value as if it had been typed, and saves it.
  write(name, text) {
    const entry = this.#entries.find(({field}) => field.name === name);
    entry.input.value = text;
    this.#typed(entry);
    this.#leave(this.#photo, entry);
  }

  #reportAway(photo, field, error) { this.#away(photo.uid, `${field.label}: ${messageFor(error, field)}`); }

  // Saves typed values. `gone`: the photo is not shown any longer, so that values with a conflict are reported, too.
  leave(gone = false) {
    for (const entry of this.#entries) {
      const {field} = entry, draft = this.#photo?.drafts.get(field.name);
      if (gone && draft?.now !== undefined) this.#reportAway(this.#photo, field, draft.error);
      else this.#leave(this.#photo, entry);
    }
  }

  #typed({field, input, was, known}) {
    const {drafts} = this.#photo, draft = drafts.get(field.name) ?? {was}, bad = input.validity.badInput;
    if (input.value === known && !bad && !draft.sending) drafts.delete(field.name);
    else drafts.set(field.name, Object.assign(draft, {text: input.value, bad}));
    this.#mark(this.#photo);
  }

  // While values are unsaved, the page asks before it is left, and does not load itself again.
  #mark(photo) {
    if (photo.drafts.size) this.#unsaved.set(photo.uid, photo);
    else this.#unsaved.delete(photo.uid);
    document.documentElement.toggleAttribute("data-unsaved", this.#unsaved.size > 0);
  }

  async #leave(photo, entry) {
    const {field} = entry, draft = photo?.drafts.get(field.name), text = draft?.text;
    if (!draft || draft.sending?.text === text || draft.now !== undefined) return;
    const sending = draft.sending = {text};
    draft.error = null;
    this.#report(entry);
    try {
      if (draft.bad) throw new Wrong(field.name, t("typeTime"));
      await this.#save(photo, sent(field, text.trim()), (record) => {
        draft.was = shown(field, record);
        if (draft.text === text) photo.drafts.delete(field.name);
        if (draft.sending === sending) draft.sending = null;
        this.#mark(photo);
        this.#saved(photo.uid, field.label);
      }, (record, tag) => {
        const now = shown(field, record), isOwn = photo.own && now === draft.was;
        photo.tag = tag;
        if (photo === this.#photo) this.show(record, tag);
        if (isOwn) return;
        draft.now = now;
        throw changedMeanwhile();
      });
    } catch (error) {
      if (draft.sending === sending) draft.sending = null;
      if (!photo.drafts.has(field.name)) throw error;
      draft.error = error;
      if (photo !== this.#photo || !entry.input.closest(".panel")?.offsetParent) this.#reportAway(photo, field, error);
      this.#report(entry);
    }
  }

  #reset(photo, entry) {
    photo.drafts.delete(entry.field.name);
    if (photo === this.#photo) entry.input.value = entry.known;
    this.#mark(photo);
    this.#report(entry);
  }

  // Shows the error of an unsaved value beside its field, in an open line, with buttons to continue.
  #report(entry) {
    const {field, input, wrong} = entry, draft = this.#photo.drafts.get(field.name);
    wrong.hidden = !draft?.error;
    input.toggleAttribute("aria-invalid", false);
    if (wrong.hidden) return;
    wrong.replaceChildren(messageFor(draft.error, field), " ", ...this.#waysOn(entry, draft));
    input.setAttribute("aria-invalid", "true");
    this.#unfold(this.#lines.get(entry.of));
  }

  // The buttons after an error. A refused value has none: the user must type another one.
  #waysOn(entry, draft) {
    const photo = this.#photo;
    const send = () => {
      if (draft.now !== undefined) draft.was = draft.now;
      delete draft.now;
      this.#leave(photo, entry);
    };
    if (draft.now !== undefined) {
      const discard = button({textContent: t("showCurrent")}, () => this.#reset(photo, entry));
      return [discard, " ", button({textContent: t("saveMine")}, send)];
    }
    return isAbout(draft.error, entry.field) ? [] : [button({textContent: t("again")}, send)];
  }
}

const changedMeanwhile = () => new Error(t("somebodyElse"));
const isAbout = (error, field) => Boolean(error.details?.length) && fieldOf(error) === field.name;
const messageFor = (error, field) => (isAbout(error, field) ? error.details[0].message : error.message);
