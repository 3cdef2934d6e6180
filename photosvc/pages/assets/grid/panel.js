// What is known of a photo, at the side of the viewer: to read, to change in place, and to take changes back.

import {Failure, call, get, may, site} from "./api.js";
import {icon, make} from "./icons.js";
import {number} from "./words.js";

const moment = new Intl.DateTimeFormat(undefined, {dateStyle: "full", timeStyle: "short", timeZone: "UTC"});
const when = new Intl.DateTimeFormat(undefined, {dateStyle: "medium", timeStyle: "short"});
const UNKNOWN = new Set(["", "Unknown", "zz"]);
const KEY = "photosvc-panel";

export class Panel {
  #timeline; #resized; #element = null; #button = null; #photo = null; #tag = ""; #asked = null;

  constructor(timeline, resized) {
    this.#timeline = timeline;
    this.#resized = resized;
  }

  get isOpen() { return Boolean(this.#element && !this.#element.hidden); }

  attach(parent, button) {
    this.#button = button;
    this.#element = make("aside", {className: "panel", hidden: sessionStorage.getItem(KEY) !== "1", ariaLabel: "Details"});
    button.setAttribute("aria-pressed", this.isOpen);
    parent.append(this.#element);
    if (this.isOpen) this.#resized();
  }

  toggle(photo) {
    this.#element.hidden = !this.#element.hidden;
    sessionStorage.setItem(KEY, this.isOpen ? "1" : "0");
    this.#button.setAttribute("aria-pressed", this.isOpen);
    this.#resized();
    this.#photo = null;
    this.show(photo);
  }

  async show(photo) {
    if (!this.isOpen || !photo || this.#photo === photo.uid) return;
    this.#photo = photo.uid;
    await this.#load(photo.uid);
  }

  async #load(uid) {
    this.#asked?.abort();
    this.#asked = new AbortController();
    try {
      const {data, headers} = await call(`/photos/${uid}`, {signal: this.#asked.signal});
      if (this.#photo !== uid) return;
      this.#tag = headers.get("ETag") || "";
      this.#fill(data);
      if (may("update")) this.#history(uid);
    } catch (error) {
      if (error.name !== "AbortError") this.#element.replaceChildren(make("p", {className: "alert", textContent: error.message}));
    }
  }

  #fill(record) {
    const focused = this.#element.contains(document.activeElement) ? document.activeElement.name : "";
    const parts = [make("h2", {textContent: record.Title || record.Name, dir: "auto"})];
    if (may("update")) parts.push(this.#form(record));
    else if (record.Description) parts.push(make("p", {textContent: record.Description, dir: "auto"}));
    const facts = make("dl");
    const fact = (name, value, query = "") => { if (value) several(name, [query ? link(value, query) : value]); };
    const several = (name, values) => {
      if (values.length) facts.append(make("dt", {textContent: name}), make("dd", {dir: "auto"}, ...values.flatMap((value, at) => (at ? [", ", value] : [value]))));
    };
    if (record.Year > 0) fact("Taken", moment.format(new Date(record.TakenAtLocal)), `taken:${record.TakenAtLocal.slice(0, 10)}`);
    else fact("Taken", "The date is not known");
    if (!UNKNOWN.has(record.PlaceLabel)) fact("Place", record.PlaceLabel, UNKNOWN.has(record.PlaceCity) ? "" : `city:"${record.PlaceCity}"`);
    if (record.Lat || record.Lng) fact("Position", `${record.Lat.toFixed(5)}, ${record.Lng.toFixed(5)}`, `near:${record.UID}`);
    if (record.Lat || record.Lng) facts.lastElementChild.append(" ", make("a", {href: `${site.places}#14/${record.Lat.toFixed(5)}/${record.Lng.toFixed(5)}`, textContent: "On the map"}));
    if (!UNKNOWN.has(record.CameraModel)) fact("Camera", `${record.CameraMake} ${record.CameraModel}`.trim(), `camera:"${record.CameraModel}"`);
    if (!UNKNOWN.has(record.LensModel)) fact("Lens", record.LensModel, `lens:"${record.LensModel}"`);
    fact("Exposure", [record.Exposure && `${record.Exposure} s`, record.FNumber && `f/${record.FNumber}`, record.Iso && `ISO ${record.Iso}`, record.FocalLength && `${record.FocalLength} mm`].filter(Boolean).join(" · "));
    const people = new Set(record.Files.flatMap((file) => file.Markers.map((marker) => marker.Name)).filter(Boolean));
    several("People", [...people].map((name) => link(name, `subject:${quoted(name)}`)));
    several("Albums", record.Albums.map((album) => make("a", {href: site.albumpage.replace("UID", album.UID), textContent: album.Title})));
    several("Labels", record.Labels.map(({Label: {Name}}) => link(Name, `label:${quoted(Name)}`)));
    for (const name of ["Artist", "Copyright", "License", "Notes"]) fact(name, record.Details[name]);
    parts.push(facts, make("h3", {textContent: record.Files.length === 1 ? "File" : "Files"}), make("ul", {className: "files"}, ...record.Files.map(fileLine)));
    parts.push(make("div", {className: "history"}));
    this.#element.replaceChildren(...parts);
    if (focused) this.#element.querySelector(`[name="${CSS.escape(focused)}"]`)?.focus();
  }

  #form(record) {
    const local = record.TakenAtLocal.slice(0, 19);
    const fields = [
      ["Title", make("input", {name: "Title", value: record.Title, maxLength: 200, dir: "auto"}), record.Title],
      ["Description", make("textarea", {name: "Description", value: record.Description, maxLength: 4096, rows: 3, dir: "auto"}), record.Description],
      ["Date and time", make("input", {name: "TakenAtLocal", type: "datetime-local", step: 1, value: record.Year > 0 ? local : ""}), record.Year > 0 ? local : ""],
      ["Keywords", make("input", {name: "Keywords", value: record.Details.Keywords, dir: "auto"}), record.Details.Keywords],
    ];
    const form = make("form", {className: "edit", noValidate: true});
    for (const [label, input, before] of fields) {
      const wrong = make("small", {className: "wrong", id: `wrong-${input.name}`, hidden: true});
      input.setAttribute("aria-describedby", wrong.id);
      form.append(make("label", {}, label, input), wrong);
      input.addEventListener("change", () => { if (input.value !== before) this.#save(record.UID, input, wrong); });
      input.addEventListener("keydown", (event) => { if (event.key === "Escape") { event.stopPropagation(); input.value = before; input.blur(); } });
    }
    form.addEventListener("submit", (event) => { event.preventDefault(); document.activeElement?.blur(); });
    return form;
  }

  async #save(uid, input, wrong) {
    const {name, value} = input;
    const sent = name === "Keywords" ? {Details: {Keywords: value}} : name === "TakenAtLocal" ? {TakenAtLocal: value ? `${value.length === 16 ? `${value}:00` : value}Z` : null} : {[name]: value};
    wrong.hidden = true;
    input.removeAttribute("aria-invalid");
    try {
      const {data, headers} = await this.#timeline.changing(() => call(`/photos/${uid}`, {method: "PUT", body: sent, headers: this.#tag ? {"If-Match": this.#tag} : {}}));
      if (this.#photo === uid) {
        this.#tag = headers.get("ETag") || "";
        this.#fill(data);
        this.#history(uid);
      }
      if (name === "Title") this.#timeline.change(new Set([uid]), {text: data.Title || data.Description || data.Name});
    } catch (error) {
      wrong.hidden = false;
      input.setAttribute("aria-invalid", "true");
      wrong.textContent = error.details?.[0]?.message || error.message;
      if (!(error instanceof Failure && error.status === 412)) return;
      wrong.textContent = "Somebody changed this photo meanwhile. ";
      const again = make("button", {type: "button", textContent: "Show it as it is now"});
      again.addEventListener("click", () => this.#load(uid));
      wrong.append(again);
    }
  }

  async #history(uid) {
    const changes = await get(`/photos/${uid}/history?count=10`).catch(() => []);
    const place = this.#element.querySelector(".history");
    if (this.#photo !== uid || !place || !changes.length) return;
    const list = make("ul", {}, ...changes.map((change) => {
      const names = Object.keys(change.After).join(", ");
      const undo = make("button", {type: "button", textContent: "Undo", ariaLabel: `Undo the change of ${names}`});
      undo.addEventListener("click", async () => {
        try {
          await this.#timeline.changing(() => call(`/photos/${uid}/history/${change.ID}/undo`, {method: "POST"}));
          await this.#load(uid);
        } catch (error) {
          undo.replaceWith(make("small", {className: "wrong", textContent: error.message}));
        }
      });
      return make("li", {}, make("span", {}, `${names} `, make("small", {textContent: when.format(new Date(change.CreatedAt || change.At))})), undo);
    }));
    place.replaceChildren(make("h3", {textContent: "History"}), list);
  }
}

const quoted = (text) => `"${text.replace(/["\\]/g, "\\$&")}"`;
const link = (textContent, query, page = site.photos) => make("a", {href: `${page}?q=${encodeURIComponent(query)}`, textContent});

function fileLine(file) {
  const about = [file.FileType.toUpperCase(), file.Width ? `${number(file.Width)} × ${number(file.Height)}` : "", bytes(file.Size)].filter(Boolean).join(" · ");
  const line = make("li", {}, make("span", {dir: "auto"}, file.Name, make("small", {textContent: about})));
  if (may("download")) line.append(make("a", {href: `${site.api}/dl/${file.Hash}`, download: "", className: "button", ariaLabel: `Download ${file.Name}`}, icon("download")));
  return line;
}

function bytes(size) {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) { size /= 1000; unit++; }
  return `${unit && size < 100 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}
