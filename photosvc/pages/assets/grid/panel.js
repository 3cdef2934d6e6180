// The panel beside the viewer: what is known of a photo, line by line, its files, and its history.

import {call, get, may, queryString} from "./api.js";
import {button, icon, make} from "./elements.js";
import {Fact, LINES, albums, fileLine, fileSummary, fineFacts, monthOf, people, smallMap, titled} from "./facts.js";
import {t} from "./words.js";

const TRIES = 3;     // to save a value of a photo that changes meanwhile
// Values that change the place of a photo in the grid, or its picture.
const MOVING = ["TakenAt", "TakenAtLocal", "TimeZone", "Lat", "Lng", "Primary", "Files", "Orientations"];
const STARS = [1, 2, 3, 4, 5];

export class Panel {
  #timeline; #actions; #resized; #away; #element;
  // The lines by name, {line, fact}; and the elements of what is no line.
  #facts = new Map();
  #parts = {};
  #wrong = make("p", {className: "alert", role: "alert", hidden: true});
  #body = make("div", {className: "facts"});
  #photo = "";
  #ready = false;
  #asked = null;
  #form = null;
  #tools = null;
  #last = Promise.resolve();
  #edits = false;

  // `actions` reports what was done, and changes photos. `resized` is called when the panel opens or closes.
  // `away(uid, message)` reports an error about a photo that is not shown any longer. `close` closes the panel.
  constructor(timeline, actions, {resized, away, close}) {
    this.#timeline = timeline;
    this.#actions = actions;
    this.#resized = resized;
    this.#away = away;
    for (const line of LINES) {
      if (line.fields) {
        const fact = new Fact(line);
        this.#facts.set(line.name, {line, fact});
        this.#body.append(fact.element);
      } else this.#part(line.name);
    }
    for (const name of ["Adds", "Files", "History"]) this.#part(name);
    const head = make("header", {}, make("h2", {textContent: t("aboutPhoto")}),
      button({className: "plain", ariaLabel: t("close")}, close, icon("close")));
    const properties = {className: "panel", tabIndex: -1, hidden: true, ariaLabel: t("aboutPhoto")};
    this.#element = make("aside", properties, head, this.#wrong, this.#body);
  }

  #part(name) {
    this.#parts[name] = make("div", {className: name.toLowerCase()});
    this.#body.append(this.#parts[name]);
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

  // Opens the first line once the photo is shown.
  edit() {
    this.#edits = true;
    if (this.#ready) this.#begin();
  }

  #begin() {
    if (this.#edits) this.#form?.open("Title");
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
      this.#wrong.textContent = error.message;
      this.#wrong.hidden = false;
      this.#body.hidden = true;
    }
  }

  // The code that changes photos is loaded with the first photo shown to a user who may change it.
  async #editing() {
    if (this.#tools) return;
    const modules = await Promise.all(["form", "history", "naming", "place"].map((name) => import(`./${name}.js`)));
    if (this.#tools) return;
    this.#tools = Object.assign({}, ...modules);
    this.#form = new this.#tools.PhotoForm(this.#facts, (...part) => this.#save(...part), this.#away,
      (uid, label) => this.#saved(uid, label));
    this.#parts.Adds.append(this.#form.adds);
    this.#tools.finding(this.#facts.get("Place").fact.element, (name, text) => this.#form.write(name, text));
  }

  #show(uid, {data, headers}) {
    if (this.#photo !== uid) return;
    const inside = this.#element.contains(document.activeElement);
    this.#ready = true;
    this.#wrong.hidden = true;
    this.#body.hidden = false;
    for (const {fact} of this.#facts.values()) fact.show(data);
    this.#form?.show(data, headers.get("ETag"));
    this.#rating(data);
    const name = may("people") && this.#tools ? (marker) => this.#name(uid, marker) : null;
    this.#parts.People.replaceChildren(...people(data, name));
    this.#map(data);
    this.#albums(data);
    const files = make("ul", {className: "files"}, ...data.Files.map((file) => this.#file(data, file)));
    this.#fold("Files", "file", fileSummary(data), fineFacts(data), files);
    // If the focused button is gone, the panel gets the focus.
    if (inside && !this.#element.contains(document.activeElement)) this.#element.focus({preventScroll: true});
    if (this.#tools) this.#history(uid);
    this.#begin();
  }

  // A line that unfolds, and stays unfolded for the next photo.
  #fold(name, picture, summary, ...parts) {
    const open = Boolean(this.#parts[name].querySelector("details[open]"));
    this.#parts[name].replaceChildren(make("details", {open}, make("summary", {dir: "auto"}, icon(picture),
      make("span", {className: "told"}, ...summary)), ...parts));
  }

  // Five stars; the same one again takes them away.
  #rating({UID, Rating = 0}) {
    if (!may("update")) {
      const text = t("stars", {num: Rating});
      const stars = make("p", {role: "img", ariaLabel: text, textContent: "★".repeat(Math.max(Rating, 0))});
      this.#parts.Rating.replaceChildren(...(Rating > 0 ? [stars] : []));
      return;
    }
    if (!this.#parts.Rating.firstChild) {
      const stars = STARS.map((num) => {
        const input = make("input", {type: "radio", name: "Rating", value: num, ariaLabel: t("stars", {num})});
        input.addEventListener("click", () => this.#rate(num));
        return make("label", {}, input);
      });
      const rejected = make("small", {textContent: t("-1"), hidden: true});
      this.#parts.Rating.append(make("fieldset", {ariaLabel: t("Rating")}, ...stars, rejected));
    }
    this.#parts.Rating.dataset.uid = UID;
    this.#parts.Rating.dataset.rating = Rating;
    for (const input of this.#parts.Rating.querySelectorAll("input")) input.checked = Number(input.value) === Rating;
    this.#parts.Rating.querySelector("small").hidden = Rating >= 0;
  }

  #rate(num) {
    const {uid, rating} = this.#parts.Rating.dataset;
    this.#actions.rate([{uid}], num === Number(rating) ? 0 : num);
  }

  #albums(data) {
    const links = albums(data), add = may("albums") ? [button({className: "tell", ariaLabel: t("albumKey")},
      () => this.#actions.run("album", [{uid: data.UID}]), icon("add"))] : [];
    const fact = make("div", {className: "fact"}, icon("album"),
      make("span", {className: "told"}, ...links.flatMap((link, at) => (at ? [", ", link] : [link]))), ...add);
    this.#parts.Albums.replaceChildren(...(links.length ? [fact] : []));
  }

  async #map(data) {
    const part = this.#parts.Map, at = `${data.Lat},${data.Lng}`;
    if (part.dataset.at === at) return;
    part.dataset.at = at;
    const draw = (towns) => part.replaceChildren(...smallMap(data, towns, this.#body.clientWidth));
    draw([]);
    if (!data.Lat && !data.Lng) return;
    const towns = await get(`/places/named${queryString({near: at})}`).catch(() => []);
    if (part.dataset.at === at) draw(towns);
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

  // Asks who is on a marked area.
  #name(uid, marker) {
    const send = (name) => this.#change(uid, async () => {
      await call(`/markers/${marker.UID}`, {method: "PUT", body: {Name: name}});
      return call(`/photos/${uid}`);
    }, () => false);
    this.#tools.naming(this.#parts.People, send);
  }

  // Tells that a value was saved, and offers to take it back.
  #saved(uid, label) {
    this.#actions.say(t("saved", {field: label}), async () => {
      const [last] = await get(`/photos/${uid}/history?count=1`);
      const back = () => call(`/photos/${uid}/history/${last.ID}/undo`, {method: "POST"});
      await this.#undo(uid, back, Object.keys(last.After));
    });
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

  #undo(uid, send, names) { return this.#change(uid, send, () => MOVING.some((name) => names.includes(name))); }

  async #history(uid) {
    const changes = await this.#tools.historyOf(uid, (send, names) => this.#undo(uid, send, names));
    if (this.#photo !== uid) return;
    if (changes) this.#fold("History", "history", changes.summary, changes.list);
    else this.#parts.History.replaceChildren();
  }
}

// The detail of `moved` for a photo, so that the viewer stays with it.
const movedPhoto = (record) => ({kept: {uid: record.UID, name: monthOf(record)}});

const recordIn = ({data}) => data.photo ?? data;
