// The panel beside the viewer: the properties of a photo, their editing in place, and undo.

import {call, may, site} from "./api.js";
import {icon, make} from "./icons.js";
import {locale, number, playing, t} from "./words.js";

const full = new Intl.DateTimeFormat(locale, {dateStyle: "full", timeStyle: "short", timeZone: "UTC"});
const inMonth = new Intl.DateTimeFormat(locale, {month: "long", year: "numeric", timeZone: "UTC"});
const UNKNOWN = new Set(["", "Unknown", "zz"]);
// The title of a photo, unless it is the one that the index gives where it knows nothing.
const titled = ({Title, TitleSrc}) => (TitleSrc || !UNKNOWN.has(Title) ? Title : "");
const TRIES = 3;     // to save a value of a photo that changes meanwhile
// Values with which a photo gets another place in the grid, or another picture.
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

  // `resized` is called when it takes or leaves room; `away(uid, message)` tells that a photo that is not shown any
  // longer was not saved.
  constructor(timeline, resized, away) {
    this.#timeline = timeline;
    this.#resized = resized;
    this.#away = away;
    this.#element = make("aside", {className: "panel", tabIndex: -1, hidden: true, ariaLabel: t("details")}, this.#head,
      this.#body);
  }

  // Each viewer shows it inside of its own element.
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

  // Leads to the first field, once the photo is shown.
  edit() {
    this.#edits = true;
    if (this.#ready) this.#begin();
  }

  #begin() {
    if (this.#edits) this.#form?.element.elements[0].focus();
    this.#edits = false;
  }

  // Shows changes of these photos made elsewhere on the page, so that the next change starts from them.
  changed(uids) {
    this.#form?.changed(uids);
    if (!this.isOpen || !uids.has(this.#photo)) return;
    this.#after(() => this.#load());
  }

  // Saves what is typed.
  leave(gone = false) { this.#form?.leave(gone); }

  // One after the other, so that each has the entity tag that the one before left.
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
    const [{PhotoForm}, {fileButtons},
      {historyOf}] = await Promise.all([import("./form.js"), import("./files.js"), import("./history.js")]);
    if (this.#tools) return;
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
    const before = this.#body.querySelector(".history") ?? "";
    this.#body.replaceChildren(facts(data), make("h3", {textContent: t("files", {num: data.Files.length})}), files,
      before);
    // Whose button went keeps a place for the keyboard.
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

  // A change of the photo that the service answered: everywhere on the page. Null: nothing was changed.
  async #became(uid, answer) {
    if (!answer) return;
    const record = recordIn(answer), text = (titled(record) || record.Description || "").trim();
    this.#timeline.change(new Set([uid]), {text, favorite: record.Favorite, private: record.Private}, this);
    // Only some answers tell the entity tag that the next change needs.
    if (answer.headers.has("ETag")) this.#show(uid, answer);
    else if (this.#photo === uid) await this.#load();
  }

  // Sends a change; lays the grid out again if the change `moves` the photo.
  #change(uid, send, moves) {
    return this.#after(async () =>
      this.#became(uid, await this.#timeline.changing(send,
      (answer) => (answer && moves() ? kept(recordIn(answer)) : null))));
  }

  // The service refuses the entity tag of a photo that was changed: by this page, or by somebody else, which `changed`
  // knows.
  #save(photo, body, saved, changed) {
    return this.#after(async () => {
      const moves = MOVING.some((name) => name in body);
      for (let tries = 1; ; tries++) {
        const send = () => call(`/photos/${photo.uid}`, {method: "PUT", body, headers: {"If-Match": photo.tag}});
        try {
          const answer = await this.#timeline.changing(send, ({data}) => (moves ? kept(data) : null));
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
    const element = await this.#tools.historyOf(uid,
      (send, names) => this.#change(uid, send, () => MOVING.some((name) => names.includes(name))));
    if (this.#photo !== uid) return;
    const old = this.#body.querySelector(".history");
    if (old) old.replaceWith(element);
    else this.#body.append(element);
  }
}

// Tells the grid that this photo moved, and where to: the viewer stays with it.
const kept = (record) =>
  ({kept: {uid: record.UID, name: record.Year > 0 && record.Month > 0 ? record.TakenAtLocal.slice(0, 7) : "0000-00"}});

const recordIn = ({data}) => data.photo ?? data;
// The query for photos of which a filter has this value; empty for an unknown value.
const withValue = (name, value) =>
  (UNKNOWN.has(value) ? "" : `${name}:"${value.replace(/[\\"|&*]|(?<=^\s*)[!-]/g, "\\$&")}"`);
const link = (textContent, query, page = site.photos) =>
  make("a", {href: `${page}?q=${encodeURIComponent(query)}`, textContent});

function facts(record) {
  const list = make("dl");
  const several = (name, values) => {
    if (values.length) list.append(make("dt", {textContent: name}),
      make("dd", {dir: "auto"}, ...values.flatMap((value, at) => (at ? [", ", value] : [value]))));
  };
  const fact = (name, value, query = "") => { if (value) several(name, [query ? link(value, query) : value]); };
  fact(t("factTaken"), ...taken(record));
  if (!UNKNOWN.has(record.PlaceLabel)) fact(t("factPlace"), record.PlaceLabel, withValue("city", record.PlaceCity));
  if (record.Lat || record.Lng) {
    const at = [record.Lat.toFixed(5), record.Lng.toFixed(5)];
    fact(t("factPosition"), at.join(", "), `near:${record.UID}`);
    list.lastElementChild.append(" ", make("a", {href: `${site.places}#14/${at.join("/")}`, textContent: t("onMap")}));
  }
  if (!UNKNOWN.has(record.CameraModel))
    fact(t("factCamera"), `${record.CameraMake} ${record.CameraModel}`.trim(), withValue("camera", record.CameraModel));
  if (!UNKNOWN.has(record.LensModel)) fact(t("factLens"), record.LensModel, withValue("lens", record.LensModel));
  fact(t("factExposure"),
    [record.Exposure && `${record.Exposure} s`, record.FNumber && `f/${record.FNumber}`,
    record.Iso && `ISO ${record.Iso}`, record.FocalLength && `${record.FocalLength} mm`].filter(Boolean).join(" · "));
  if (record.Duration) fact(t("factDuration"), playing(record.Duration));
  if (record.Rating > 0 && !may("update")) fact(t("factRating"), "★".repeat(record.Rating));
  const people = new Set(record.Files.flatMap((file) => file.Markers.map((marker) => marker.Name)).filter(Boolean));
  several(t("factPeople"), [...people].map((name) => link(name, withValue("subject", name))));
  several(t("factAlbums"),
    record.Albums.map((album) =>
    make("a", {href: site.albumpage.replace("UID", album.UID), textContent: album.Title})));
  several(t("factLabels"), record.Labels.map(({Label: {Name}}) => link(Name, withValue("label", Name))));
  // Users who may change these values see them in the form instead.
  if (!may("update")) for (const name of ["Subject", "Artist", "Copyright", "License", "Notes"])
    fact(t(name), record.Details[name]);
  return list;
}

// When a photo was taken, as far as that is known, and a search for the same.
function taken({Year: year, Month: month, Day: day, TakenAtLocal: local}) {
  if (year <= 0) return [t("dateUnknown")];
  if (month <= 0) return [String(year), `year:${year}`];
  if (day <= 0) return [inMonth.format(new Date(local)), `year:${year} month:${month}`];
  return [full.format(new Date(local)), `taken:${local.slice(0, 10)}`];
}

function fileLine(file) {
  const about = [file.FileType.toUpperCase(), file.Width ? `${number(file.Width)} × ${number(file.Height)}` : "",
    bytes(file.Size)].filter(Boolean).join(" · ");
  const line = make("li", {}, make("span", {dir: "auto"}, file.Name, make("small", {textContent: about})));
  if (may("download")) line.append(
    make("a", {href: `${site.api}/dl/${file.Hash}`, download: "", className: "button",
    ariaLabel: t("downloadFile", {file: file.Name})}, icon("download")));
  return line;
}

function bytes(size) {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit++;
  }
  return `${unit && size < 100
    ? size.toLocaleString(locale,
    {minimumFractionDigits: 1, maximumFractionDigits: 1}) : Math.round(size)} ${t(units[unit])}`;
}
