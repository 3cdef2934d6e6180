// What the panel tells of a photo: a line for each kind of fact, with a search for photos that share it.

import {may, site, thumbnail} from "./api.js";
import {icon, make, picture, place} from "./elements.js";
import {CAMERA, KEYWORDS, MAIN, PLACE, RIGHTS, TIME} from "./fields.js";
import {UNKNOWN, muted, placeName, taken} from "./when.js";
import {locale, number, playing, t} from "./words.js";

const UNITS = ["bytes", "kB", "MB", "GB", "TB"];
const WORLD = 131072;  // pixels of the world in the small map
const MIDDLE = 58;     // half of its height
const NAMES = 2;       // towns in it
const TILE = "tile_224";

/**
 * The title of a photo, unless it is the one that the index gives where it knows nothing.
 * @param {PhotoRecord} record
 */
export const titled = ({Title, TitleSrc}) => (TitleSrc || !UNKNOWN.has(Title) ? Title : "");

/**
 * The name of the month of a photo in the timeline.
 * @param {PhotoRecord} record
 */
export const monthOf = ({Year, Month, TakenAtLocal}) => (Year > 0 && Month > 0 ? TakenAtLocal.slice(0, 7) : "0000-00");

const searchOf = (query) => `${site.photos}?q=${encodeURIComponent(query)}`;
// The query for photos of which a filter has this value.
const withValue = (name, value) => `${name}:"${value.replace(/[\\"|&*]|(?<=^\s*)[!-]/g, "\\$&")}"`;
const known = (filter, value) => (UNKNOWN.has(value) ? "" : withValue(filter, value));

// The lines in their order. `tell` returns the parts of a line, none for a photo without the fact; `find` the query
// for photos that share it; `empty` is the text of a line that stays where nothing is known.
export const LINES = [
  {name: "Title", fields: [MAIN[0]], empty: "addTitle", tell: (record) => [titled(record)]},
  {name: "Description", fields: [MAIN[1]], empty: "addDescription", tell: ({Description}) => [Description]},
  {name: "Taken", picture: "calendar", fields: TIME, tell: taken, find: dayQuery},
  {name: "Rating"},
  {name: "People"},
  {name: "Map"},
  {name: "Place", picture: "pin", fields: PLACE, tell: placeName, find: ({PlaceCity}) => known("city", PlaceCity)},
  {name: "Camera", picture: "camera", fields: CAMERA, tell: camera,
    find: ({CameraModel}) => known("camera", CameraModel)},
  {name: "Albums"},
  {name: "Keywords", picture: "tag", fields: [KEYWORDS], tell: ({Labels}) => Labels.map(({Label}) => chip(Label.Name))},
  {name: "Rights", picture: "copyright", fields: RIGHTS, tell: rights},
];

/** @param {PhotoRecord} record */
function dayQuery({Year, Month, Day, TakenAtLocal: local}) {
  if (Year <= 0) return "";
  return Month <= 0 ? `year:${Year}` : `taken:${local.slice(0, Day > 0 ? 10 : 7)}`;
}

/** @param {PhotoRecord} record */
function camera({CameraMake, CameraModel, LensModel, Exposure, FNumber, FocalLength, Iso}) {
  const name = UNKNOWN.has(CameraModel) ? "" : CameraModel.startsWith(CameraMake) ? CameraModel
    : `${CameraMake} ${CameraModel}`.trim(), lens = UNKNOWN.has(LensModel) ? "" : LensModel;
  const signs = [["aperture", FNumber && `ƒ/${FNumber}`], ["clock", Exposure && `${Exposure} s`],
    ["iso", Iso && `ISO ${Iso}`], ["focal", FocalLength && `${FocalLength} mm`]].filter(([, text]) => text);
  const exposure = make("span", {className: "exposure"},
    ...signs.map(([picture, text]) => make("span", {}, icon(picture), text)));
  const parts = [name || lens, ...(name && lens ? [muted(` · ${lens}`)] : [])].filter(Boolean);
  return signs.length ? [...parts, exposure] : parts;
}

/** @param {PhotoRecord} record */
function rights({Details: {Artist, Copyright, License, Subject, Notes}}) {
  const texts = [Artist, Copyright, License, Subject, Notes].filter(Boolean);
  return texts.flatMap((text, at) => (at ? [muted(` · ${text}`)] : [text]));
}

const chip = (name) => make("a", {className: "chip", href: searchOf(withValue("label", name)), textContent: name});

// A line of the panel. In that of a user who may change photos, a button opens its fields.
export class Fact {
  #line;
  #text = make("span", {className: "told", dir: "auto", lang: ""});
  #same = make("a", {className: "same"}, icon("search"));
  // The button, and the element that contains it, in which the form puts the fields.
  button = null;
  element;

  constructor(line) {
    this.#line = line;
    const {name, picture = ""} = line, edits = may("update"), label = t(name);
    const sign = picture ? [icon(picture)] : [];
    this.element = make("div", {className: `fact ${name.toLowerCase()}`}, ...sign, this.#text);
    if (edits) {
      // Chips are links, which no button may contain.
      this.button = make("button", {type: "button", className: "tell", ariaLabel: t("editOf", {names: label})});
      if (name === "Keywords") this.button.append(icon("add"));
      else this.button.append(this.#text, icon("pencil"));
      this.element.append(this.button);
    }
    if (line.find) this.element.append(this.#same);
  }

  /** @param {PhotoRecord} record */
  show(record) {
    const {empty, find, tell, name} = this.#line, parts = tell(record).filter(Boolean), isEmpty = !parts.length;
    this.#text.replaceChildren(...(isEmpty && empty && this.button ? [t(empty)] : parts));
    this.element.classList.toggle("missing", isEmpty);
    if (this.button) this.button.ariaLabel = `${t("editOf", {names: t(name)})}: ${this.#text.textContent}`;
    const query = isEmpty ? "" : find?.(record);
    this.#same.hidden = !query;
    const ariaLabel = t("photosLike", {name: this.#text.textContent});
    if (query) Object.assign(this.#same, {href: searchOf(query), ariaLabel});
    if (!this.button) this.element.hidden = isEmpty;
  }

  get isEmpty() { return this.element.classList.contains("missing"); }
  get stays() { return Boolean(this.#line.empty); }
}

// The thumbnail of a marked area.
function faceOf(file, {X, Y, W, H}) {
  const area = [X, Y, W, H].map((part) => Math.floor(1000 * part).toString(16).padStart(3, "0")).join("");
  return thumbnail({hash: `${file.Hash}-${area}`}, TILE);
}

/**
 * The people on a photo as faces. `name(marker)` is called for one that a user wants to name.
 * @param {PhotoRecord} record
 */
export function people({Files}, name = null) {
  const seen = new Set(), faces = [];
  for (const file of Files) for (const marker of file.Markers) {
    const {Name} = marker;
    if (seen.has(Name) || (!Name && !name)) continue;
    if (Name) seen.add(Name);
    const image = picture({src: faceOf(file, marker), width: 56, height: 56});
    const label = make("span", {textContent: Name || t("whoIsThis"), dir: "auto"});
    const face = Name ? make("a", {href: searchOf(withValue("subject", Name))}, image, label)
      : make("button", {type: "button", className: "unknown"}, image, label);
    if (!Name) face.addEventListener("click", () => name(marker));
    faces.push(make("li", {}, face));
  }
  return faces.length ? [make("ul", {className: "faces", ariaLabel: t("factPeople")}, ...faces)] : [];
}

/**
 * The albums of a photo, as links.
 * @param {PhotoRecord} record
 */
export const albums = ({Albums}) => Albums.map(({UID, Title}) =>
  make("a", {href: site.albumpage.replace("UID", UID), textContent: Title, dir: "auto"}));

// The place of a position in the small map, as pixels of the world.
function pixels(lat, lng) {
  const angle = Math.max(-85, Math.min(85, lat)) * Math.PI / 180;
  return [(lng + 180) / 360 * WORLD, (1 - Math.log(Math.tan(angle) + 1 / Math.cos(angle)) / Math.PI) / 2 * WORLD];
}

/**
 * A small map with the position of a photo and some towns near it, which leads to the map.
 * @param {PhotoRecord} record
 */
export function smallMap({Lat, Lng, PlaceLabel}, towns, width) {
  if (!Lat && !Lng) return [];
  const [x, y] = pixels(Lat, Lng), outline = make("img", {src: site.outline, alt: ""});
  place(outline, {left: width / 2 - x, top: MIDDLE - y, width: WORLD, height: WORLD});
  const names = [], taken = [MIDDLE];
  for (const {name, lat, lng} of towns) {
    const [left, above] = pixels(lat, lng), top = MIDDLE + above - y;
    const isFree = top >= 8 && top <= 2 * MIDDLE - 8 && taken.every((other) => Math.abs(other - top) >= 16);
    if (names.length === NAMES || !isFree) continue;
    taken.push(top);
    names.push(make("span", {textContent: name, dir: "auto"}));
    place(names.at(-1), {left: Math.max(12, Math.min(width / 2 + left - x, width - 120)), top});
  }
  const href = `${site.places}#14/${Lat.toFixed(5)}/${Lng.toFixed(5)}`;
  return [make("a", {className: "map", href, ariaLabel: `${t("onMap")}: ${PlaceLabel}`}, outline, ...names,
    make("i", {}))];
}

/**
 * What a folded line tells of the shown file.
 * @param {PhotoRecord} record
 */
export function fileSummary({Files}) {
  const {Height, Name, Size, Width} = Files.find(({Primary}) => Primary) ?? Files[0], sep = Name.lastIndexOf("/");
  const megapixels = Width * Height / 1e6, pictured = megapixels >= .1
    && `${megapixels.toLocaleString(locale, {maximumFractionDigits: megapixels < 10 ? 1 : 0})} MP`;
  return [Name.slice(sep + 1), muted(["", pictured, bytes(Size)].filter((text, at) => !at || text).join(" · "))];
}

/**
 * Facts about the file that few ask for.
 * @param {PhotoRecord} record
 */
export function fineFacts({Altitude, Duration, Lat, Lng, OriginalName, TimeZone, UID}) {
  const rows = [["factPosition", (Lat || Lng) && make("a", {href: searchOf(`near:${UID}`),
    textContent: `${Lat.toFixed(5)}, ${Lng.toFixed(5)}`})], ["Altitude", Altitude && `${number(Altitude)} m`],
  ["TimeZone", TimeZone], ["factDuration", Duration && playing(Duration)], ["originalName", OriginalName]];
  const shown = rows.filter(([, value]) => value);
  return make("dl", {}, ...shown.flatMap(([name, value]) =>
    [make("dt", {textContent: t(name)}), make("dd", {dir: "auto"}, value)]));
}

/**
 * The line of a file, with a link to download it.
 * @param {FileRecord} file
 */
export function fileLine({FileType, Hash, Height, Name, Size, Width}) {
  const size = Width ? `${number(Width)} × ${number(Height)}` : "";
  const about = [FileType.toUpperCase(), size, bytes(Size)].filter(Boolean).join(" · ");
  const line = make("li", {}, make("span", {dir: "auto"}, Name, make("small", {textContent: about})));
  const properties = {download: "", className: "button", ariaLabel: t("downloadFile", {file: Name})};
  if (may("download")) line.append(make("a", {href: `${site.api}/dl/${Hash}`, ...properties}, icon("download")));
  return line;
}

function bytes(size) {
  let unit = 0;
  for (; size >= 1000 && unit < UNITS.length - 1; unit++) size /= 1000;
  const digits = unit && size < 100 ? 1 : 0;
  const format = {minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false};
  return `${size.toLocaleString(locale, format)} ${t(UNITS[unit])}`;
}
