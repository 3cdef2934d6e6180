// The panel beside the viewer: the properties of a photo, their editing in place, and undo.

import {Failure, call, may, site} from "./api.js";
import {icon, make} from "./icons.js";
import {locale, number, playing, t} from "./words.js";

const full = new Intl.DateTimeFormat(locale, {dateStyle: "full", timeStyle: "short", timeZone: "UTC"});
const inMonth = new Intl.DateTimeFormat(locale, {month: "long", year: "numeric", timeZone: "UTC"});
const UNKNOWN = new Set(["", "Unknown", "zz"]);
// The title of a photo, unless it is the one that the index gives where it knows nothing.
const titled = ({Title, TitleSrc}) => (TitleSrc || !UNKNOWN.has(Title) ? Title : "");
// Values with which a photo gets another place in the grid, or another picture.
const MOVING = ["TakenAt", "TakenAtLocal", "TimeZone", "Lat", "Lng", "Primary", "Files", "Orientations"];

export class Panel {
  #timeline; #resized; #say; #element; #head = make("div"); #body = make("div");
  #photo = ""; #tag = ""; #asked = null; #form = null; #tools = null; #last = Promise.resolve(); #own = false; #edits = false;

  // Inside of `parent`. `resized` is called when it takes or leaves room; `say` tells what went wrong with a photo that
  // is not shown any longer.
  constructor(parent, timeline, resized, say) {
    this.#timeline = timeline; this.#resized = resized; this.#say = say;
    this.#element = make("aside", {className: "panel", tabIndex: -1, hidden: true, ariaLabel: t("details")}, this.#head, this.#body);
    parent.append(this.#element);
  }

  get isOpen() { return !this.#element.hidden; }

  toggle(photo) {
    this.#element.hidden = !this.#element.hidden;
    this.#resized();
    this.#photo = "";
    this.show(photo);
  }

  show(photo) {
    if (!this.isOpen || !photo || this.#photo === photo.uid) return;
    this.#photo = photo.uid;
    this.#tag = "";
    this.#load();
  }

  // Leads to the first field, once the photo is shown.
  edit() {
    this.#edits = true;
    if (this.#tag) this.#begin();
  }

  #begin() {
    if (this.#edits) this.#form?.element.elements[0].focus();
    this.#edits = false;
  }

  // Shows changes of these photos made elsewhere on the page, so that the next change starts from them.
  changed(uids) {
    if (!this.isOpen || !uids.has(this.#photo)) return;
    this.#own = true;
    this.#after(() => this.#load());
  }

  // Typed values are saved before the panel closes.
  leave() {
    if (this.#element.contains(document.activeElement)) document.activeElement.blur();
  }

  // One after the other, so that each has the entity tag that the one before left.
  #after(act) {
    const done = this.#last.then(act);
    this.#last = done.catch(() => {});
    return done;
  }

  async #load(anew = false) {
    const uid = this.#photo;
    this.#asked?.abort();
    this.#asked = new AbortController();
    try {
      const answer = await call(`/photos/${uid}`, {signal: this.#asked.signal});
      if (may("update")) await this.#editing();
      this.#show(uid, answer, anew);
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
    const [{PhotoForm}, {fileButtons}, {historyOf}] = await Promise.all([import("./form.js"), import("./files.js"), import("./history.js")]);
    if (this.#tools) return;
    this.#tools = {fileButtons, historyOf};
    this.#form = new PhotoForm((uid, part, saved) => this.#save(uid, part, saved).catch((error) => {
      if (this.#photo === uid) throw error;
      this.#say(error.message);
    }));
  }

  #show(uid, {data, headers}, anew = false) {
    if (this.#photo !== uid) return;
    this.#tag = headers.get("ETag") || "";
    this.#own = false;
    const inside = this.#element.contains(document.activeElement);
    this.#head.replaceChildren(make("h2", {textContent: titled(data) || data.Name, dir: "auto", lang: ""}));
    if (this.#form) {
      this.#form.show(data, anew);
      if (!this.#form.element.isConnected) this.#head.after(this.#form.element);
    } else if (data.Description) this.#head.append(make("p", {textContent: data.Description, dir: "auto", lang: ""}));
    const files = make("ul", {className: "files"}, ...data.Files.map((file) => this.#file(data, file)));
    const before = this.#body.querySelector(".history") ?? "";
    this.#body.replaceChildren(facts(data), make("h3", {textContent: t("files", {num: data.Files.length})}), files, before);
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
    if (answer.headers.has("ETag")) this.#show(uid, answer); else if (this.#photo === uid) await this.#load();
  }

  // Sends a change; lays the grid out again if the change `moves` the photo.
  #change(uid, send, moves) {
    return this.#after(async () => this.#became(uid, await this.#timeline.changing(send, (answer) => (answer && moves() ? kept(recordIn(answer)) : null))));
  }

  #save(uid, part, saved) {
    return this.#after(async () => {
      const body = part(), moves = MOVING.some((name) => name in body);
      for (let tries = 1; ; tries++) {
        const tag = this.#photo === uid ? this.#tag : "";
        const send = () => call(`/photos/${uid}`, {method: "PUT", body, headers: tag ? {"If-Match": tag} : {}});
        try {
          const answer = await this.#timeline.changing(send, ({data}) => (moves ? kept(data) : null));
          saved();
          await this.#became(uid, answer);
          return;
        } catch (error) {
          if (!(error instanceof Failure && error.status === 412)) throw error;
          // It may be what this page did itself, of which the panel heard while this was sent.
          if (tries > 1 || !this.#own || this.#photo !== uid) throw this.#conflict(error);
          await this.#load();
        }
      }
    });
  }

  #conflict(error) {
    const again = make("button", {type: "button", textContent: t("showCurrent")});
    again.addEventListener("click", () => this.#load(true));
    return Object.assign(new Failure(error.status, `${t("somebodyElse")} `), {further: [again]});
  }

  async #history(uid) {
    const element = await this.#tools.historyOf(uid, (send, names) => this.#change(uid, send, () => MOVING.some((name) => names.includes(name))));
    if (this.#photo !== uid) return;
    const old = this.#body.querySelector(".history");
    if (old) old.replaceWith(element); else this.#body.append(element);
  }
}

// Tells the grid that this photo moved, and where to: the viewer stays with it.
const kept = (record) => ({kept: {uid: record.UID, name: record.Year > 0 && record.Month > 0 ? record.TakenAtLocal.slice(0, 7) : "0000-00"}});

const recordIn = ({data}) => data.photo ?? data;
// The query for photos of which a filter has this value; empty for an unknown value.
const withValue = (name, value) => (UNKNOWN.has(value) ? "" : `${name}:"${value.replace(/[\\"|&*]|(?<=^\s*)[!-]/g, "\\$&")}"`);
const link = (textContent, query, page = site.photos) => make("a", {href: `${page}?q=${encodeURIComponent(query)}`, textContent});

function facts(record) {
  const list = make("dl");
  const several = (name, values) => {
    if (values.length) list.append(make("dt", {textContent: name}), make("dd", {dir: "auto"}, ...values.flatMap((value, at) => (at ? [", ", value] : [value]))));
  };
  const fact = (name, value, query = "") => { if (value) several(name, [query ? link(value, query) : value]); };
  fact(t("factTaken"), ...taken(record));
  if (!UNKNOWN.has(record.PlaceLabel)) fact(t("factPlace"), record.PlaceLabel, withValue("city", record.PlaceCity));
  if (record.Lat || record.Lng) {
    const at = [record.Lat.toFixed(5), record.Lng.toFixed(5)];
    fact(t("factPosition"), at.join(", "), `near:${record.UID}`);
    list.lastElementChild.append(" ", make("a", {href: `${site.places}#14/${at.join("/")}`, textContent: t("onMap")}));
  }
  if (!UNKNOWN.has(record.CameraModel)) fact(t("factCamera"), `${record.CameraMake} ${record.CameraModel}`.trim(), withValue("camera", record.CameraModel));
  if (!UNKNOWN.has(record.LensModel)) fact(t("factLens"), record.LensModel, withValue("lens", record.LensModel));
  fact(t("factExposure"), [record.Exposure && `${record.Exposure} s`, record.FNumber && `f/${record.FNumber}`, record.Iso && `ISO ${record.Iso}`, record.FocalLength && `${record.FocalLength} mm`].filter(Boolean).join(" · "));
  if (record.Duration) fact(t("factDuration"), playing(record.Duration));
  if (record.Rating > 0 && !may("update")) fact(t("factRating"), "★".repeat(record.Rating));
  const people = new Set(record.Files.flatMap((file) => file.Markers.map((marker) => marker.Name)).filter(Boolean));
  several(t("factPeople"), [...people].map((name) => link(name, withValue("subject", name))));
  several(t("factAlbums"), record.Albums.map((album) => make("a", {href: site.albumpage.replace("UID", album.UID), textContent: album.Title})));
  several(t("factLabels"), record.Labels.map(({Label: {Name}}) => link(Name, withValue("label", Name))));
  // Users who may change these values see them in the form instead.
  if (!may("update")) for (const name of ["Subject", "Artist", "Copyright", "License", "Notes"]) fact(t(name), record.Details[name]);
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
  const about = [file.FileType.toUpperCase(), file.Width ? `${number(file.Width)} × ${number(file.Height)}` : "", bytes(file.Size)].filter(Boolean).join(" · ");
  const line = make("li", {}, make("span", {dir: "auto"}, file.Name, make("small", {textContent: about})));
  if (may("download")) line.append(make("a", {href: `${site.api}/dl/${file.Hash}`, download: "", className: "button", ariaLabel: t("downloadFile", {file: file.Name})}, icon("download")));
  return line;
}

function bytes(size) {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) { size /= 1000; unit++; }
  return `${unit && size < 100 ? size.toLocaleString(locale, {minimumFractionDigits: 1, maximumFractionDigits: 1}) : Math.round(size)} ${t(units[unit])}`;
}
