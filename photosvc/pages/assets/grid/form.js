// The form with the values of one photo. A value is saved when its field is left.

import {confirmed} from "./dialog.js";
import {button, make} from "./elements.js";
import {GROUPS, KEYWORDS, MAIN, TIME, Wrong, control, fieldOf, sent, shown} from "./fields.js";
import {t} from "./words.js";

const FIRST = [...MAIN, TIME, KEYWORDS];
const PAUSE = 1500;  // milliseconds without another digit

export class PhotoForm {
  element = make("form", {className: "edit", noValidate: true});
  // The photo that the form shows, and photos with unsaved values by UID: {uid, tag, own, drafts}. `own`: this page
  // changed it. A draft is a typed value: {text, bad, was, now, sending, error}; `was` is the value of the record when
  // typing began, `now` the present one if somebody changed the photo meanwhile.
  #photo = null;
  #unsaved = new Map();
  #save; #away;
  #entries = [];

  // `save(photo, body, saved, changed)` sends a change, and calls `saved` with the record of the answer. If the photo
  // changed meanwhile it calls `changed` with its record and tag, then sends again unless that throws.
  // `away(uid, message)` reports an error about a photo that is not shown any longer.
  constructor(save, away) {
    this.#save = save;
    this.#away = away;
    const group = ([title, fields]) =>
      make("details", {}, make("summary", {textContent: title}), ...fields.flatMap((field) => this.#entry(field)));
    this.element.append(...FIRST.flatMap((field) => this.#entry(field)), ...GROUPS.map(group));
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      document.activeElement?.blur();
    });
    addEventListener("beforeunload", () => this.leave());
    document.addEventListener("visibilitychange", () => { if (document.hidden) this.leave(); });
  }

  #entry(field) {
    const input = control(field, `of-${field.name}`, field.name === "Rating" || field.name === "Type" ? null : "");
    const wrong = make("small", {className: "wrong", id: `wrong-${field.name}`, role: "alert", hidden: true});
    const label = make("label", {}, field.label, input);
    const entry = {field, input, wrong, label, was: "", known: "", asking: false, timer: 0};
    input.setAttribute("aria-describedby", wrong.id);
    input.addEventListener("input", () => this.#typed(entry));
    const leave = () => { if (!entry.asking) this.#leave(this.#photo, entry); };
    input.addEventListener("blur", leave);
    // A time changes with each typed digit.
    input.addEventListener("change", () => {
      clearTimeout(entry.timer);
      if (field === TIME) entry.timer = setTimeout(leave, PAUSE);
      else leave();
    });
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      event.preventDefault();  // it would close the dialog, too
      this.#discard(entry);
    });
    this.#entries.push(entry);
    return [label, wrong];
  }

  // Shows a record with its entity tag; unsaved values stay.
  show(record, tag) {
    if (record.UID !== this.#photo?.uid) {
      this.leave();
      this.#photo = this.#unsaved.get(record.UID) ?? {uid: record.UID, drafts: new Map()};
    }
    Object.assign(this.#photo, {tag, own: false});
    for (const entry of this.#entries) {
      const {field, input} = entry, draft = this.#photo.drafts.get(field.name), probe = input.cloneNode(true);
      probe.value = entry.was = shown(field, record);
      entry.known = probe.value;  // browsers have their own form of times and ends of lines
      if (draft && !draft.sending && draft.was !== entry.was)
        Object.assign(draft, {now: entry.was, error: changedMeanwhile()});
      const text = draft ? draft.text : entry.known;
      if (input.value !== text) input.value = text;
      this.#report(entry);
      if (field.name === "Country") entry.label.hidden = Boolean(record.Lat || record.Lng);
    }
  }

  // Notes that this page changed photos.
  changed(uids) {
    for (const photo of [this.#photo, ...this.#unsaved.values()]) if (uids.has(photo?.uid)) photo.own = true;
  }

  #reportAway(photo, field, error) { this.#away(photo.uid, `${field.label}: ${messageFor(error, field)}`); }

  // Saves typed values. `gone`: the photo is not shown any longer, so that values with a conflict are reported, too.
  leave(gone = false) {
    for (const entry of this.#entries) {
      const {field, asking} = entry, draft = this.#photo?.drafts.get(field.name);
      if (gone && draft?.now !== undefined) this.#reportAway(this.#photo, field, draft.error);
      else if (!asking) this.#leave(this.#photo, entry);
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
    const isUnsaved = this.#unsaved.size > 0;
    for (const element of [document.documentElement, this.element]) element.toggleAttribute("data-unsaved", isUnsaved);
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
      if (photo !== this.#photo || !this.element.offsetParent) this.#reportAway(photo, field, error);
      this.#report(entry);
    }
  }

  async #discard(entry) {
    const {field, input} = entry, photo = this.#photo;
    if (photo.drafts.has(field.name)) {
      entry.asking = true;
      const yes = await confirmed(t("askDiscard"), t("discard"), true);
      entry.asking = false;
      if (!yes) {
        input.focus();
        return;
      }
      this.#reset(photo, entry);
    }
    input.blur();
  }

  #reset(photo, entry) {
    photo.drafts.delete(entry.field.name);
    if (photo === this.#photo) entry.input.value = entry.known;
    this.#mark(photo);
    this.#report(entry);
  }

  // Shows the error of an unsaved value beside its field, with buttons to continue.
  #report(entry) {
    const {field, input, wrong} = entry, draft = this.#photo.drafts.get(field.name);
    wrong.hidden = !draft?.error;
    input.toggleAttribute("aria-invalid", false);
    if (wrong.hidden) return;
    wrong.replaceChildren(messageFor(draft.error, field), " ", ...this.#waysOn(entry, draft));
    input.setAttribute("aria-invalid", "true");
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
