// The panel beside the viewer: the facts of a photo, its form, its files, and its history.

import {call, may} from "./api.js";
import {make} from "./elements.js";
import {facts, fileLine, monthOf, titled} from "./facts.js";
import {t} from "./words.js";

const TRIES = 3;     // to save a value of a photo that changes meanwhile
// Values that change the place of a photo in the grid, or its picture.
const MOVING = ["TakenAt", "TakenAtLocal", "TimeZone", "Lat", "Lng", "Primary", "Files", "Orientations"];

export class Panel {
  #timeline; #resized; #away; #element;
  #head = make("div");
  #body = make("div");
  #photo = "";
  #ready = false;
  #asked = null;
  #form = null;
  #tools = null;
  #last = Promise.resolve();
  #edits = false;

  // `resized` is called when the panel opens or closes. `away(uid, message)` reports an error about a photo that is not
  // shown any longer.
  constructor(timeline, resized, away) {
    this.#timeline = timeline;
    this.#resized = resized;
    this.#away = away;
    const properties = {className: "panel", tabIndex: -1, hidden: true, ariaLabel: t("details")};
    this.#element = make("aside", properties, this.#head, this.#body);
  }

  // Moves the panel into the element of a viewer.
  standIn(parent) { parent.append(this.#element); }

  get isOpen() { return !this.#element.hidden; }

  toggle(photo) {
    this.leave(true);
    this.#element.hidden = !this.#element.hidden;
    this.#resized();
    this.#photo = "";
    this.show(photo);
  }

  show(photo) {
    if (!this.isOpen || !photo || this.#photo === photo.uid) return;
    this.leave(true);
    this.#photo = photo.uid;
    this.#ready = false;
    this.#load();
  }

  close() {
    this.leave(true);
    this.#element.hidden = true;
    this.#photo = "";
  }

  // Focuses the first field once the photo is shown.
  edit() {
    this.#edits = true;
    if (this.#ready) this.#begin();
  }

  #begin() {
    if (this.#edits) this.#form?.element.elements[0].focus();
    this.#edits = false;
  }

  // Shows changes of photos made elsewhere on the page, so that the next change is based on them.
  changed(uids) {
    this.#form?.changed(uids);
    if (!this.isOpen || !uids.has(this.#photo)) return;
    this.#after(() => this.#load());
  }

  // Saves typed values.
  leave(gone = false) { this.#form?.leave(gone); }

  // Runs changes one after the other: each needs the entity tag of the one before.
  #after(act) {
    const done = this.#last.then(act);
    this.#last = done.catch(() => {});
    return done;
  }

  async #load() {
    const uid = this.#photo;
    this.#asked?.abort();
    this.#asked = new AbortController();
    try {
      const answer = await call(`/photos/${uid}`, {signal: this.#asked.signal});
      if (may("update")) await this.#editing();
      this.#show(uid, answer);
    } catch (error) {
      if (error.name === "AbortError" || this.#photo !== uid) return;
      this.#head.replaceChildren(make("p", {className: "alert", textContent: error.message}));
      this.#body.replaceChildren();
      this.#form?.element.remove();
    }
  }

  // The code that changes photos is loaded with the first photo shown to a user who may change it.
  async #editing() {
    if (this.#tools) return;
    const modules = await Promise.all([import("./form.js"), import("./history.js")]);
    if (this.#tools) return;
    const {PhotoForm, fileButtons, historyOf} = Object.assign({}, ...modules);
    this.#tools = {fileButtons, historyOf};
    this.#form = new PhotoForm((...part) => this.#save(...part), this.#away);
  }

  #show(uid, {data, headers}) {
    if (this.#photo !== uid) return;
    this.#ready = true;
    const inside = this.#element.contains(document.activeElement);
    this.#head.replaceChildren(make("h2", {textContent: titled(data) || data.Name, dir: "auto", lang: ""}));
    if (this.#form) {
      this.#form.show(data, headers.get("ETag"));
      if (!this.#form.element.isConnected) this.#head.after(this.#form.element);
    } else if (data.Description) this.#head.append(make("p", {textContent: data.Description, dir: "auto", lang: ""}));
    const files = make("ul", {className: "files"}, ...data.Files.map((file) => this.#file(data, file)));
    const history = this.#body.querySelector(".history") ?? "", heading = t("files", {num: data.Files.length});
    this.#body.replaceChildren(facts(data), make("h3", {textContent: heading}), files, history);
    // If the focused button is gone, the panel gets the focus.
    if (inside && !this.#element.contains(document.activeElement)) this.#element.focus({preventScroll: true});
    if (this.#tools) this.#history(uid);
    this.#begin();
  }

  #file(record, file) {
    const wrong = make("small", {className: "wrong", role: "alert", hidden: true}), line = fileLine(file);
    const act = async (send) => {
      wrong.hidden = true;
      try {
        await this.#change(record.UID, send, () => true);
      } catch (error) {
        wrong.textContent = error.message;
        wrong.hidden = false;
      }
    };
    const buttons = this.#tools?.fileButtons(record, file, act) ?? [];
    if (buttons.length) line.append(make("div", {className: "row"}, ...buttons), wrong);
    return line;
  }

  // Shows the answer to a change everywhere on the page; null means that nothing was changed.
  async #became(uid, answer) {
    if (!answer) return;
    const record = recordIn(answer), text = (titled(record) || record.Description || "").trim();
    this.#timeline.change(new Set([uid]), {text, favorite: record.Favorite, private: record.Private}, this);
    // Without an entity tag in the answer, the photo is read again: the next change needs it.
    if (answer.headers.has("ETag")) this.#show(uid, answer);
    else if (this.#photo === uid) await this.#load();
  }

  // Sends a change; lays the grid out again if the change `moves` the photo.
  #change(uid, send, moves) {
    const follow = (answer) => (answer && moves() ? movedPhoto(recordIn(answer)) : null);
    return this.#after(async () => this.#became(uid, await this.#timeline.changing(send, follow)));
  }

  // Saves a change. If the photo was changed meanwhile, by this page or somebody else, calls `changed` and tries again.
  #save(photo, body, saved, changed) {
    return this.#after(async () => {
      const moves = MOVING.some((name) => name in body);
      for (let tries = 1; ; tries++) {
        const send = () => call(`/photos/${photo.uid}`, {method: "PUT", body, headers: {"If-Match": photo.tag}});
        try {
          const answer = await this.#timeline.changing(send, ({data}) => (moves ? movedPhoto(data) : null));
          photo.tag = answer.headers.get("ETag");
          saved(answer.data);
          await this.#became(photo.uid, answer);
          return;
        } catch (error) {
          if (error.status !== 412 || tries === TRIES) throw error;
          const {data, headers} = await call(`/photos/${photo.uid}`);
          changed(data, headers.get("ETag"));
        }
      }
    });
  }

  async #history(uid) {
    const undo = (send, names) => this.#change(uid, send, () => MOVING.some((name) => names.includes(name)));
    const element = await this.#tools.historyOf(uid, undo);
    if (this.#photo !== uid) return;
    const old = this.#body.querySelector(".history");
    if (old) old.replaceWith(element);
    else this.#body.append(element);
  }
}

// The detail of `moved` for a photo, so that the viewer stays with it.
const movedPhoto = (record) => ({kept: {uid: record.UID, name: monthOf(record)}});

const recordIn = ({data}) => data.photo ?? data;
