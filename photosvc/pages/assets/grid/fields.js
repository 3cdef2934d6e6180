// The values of photos that users change: how a form asks for each, and how each is read from records and sent.

import {make} from "./elements.js";
import {UNKNOWN} from "./when.js";
import {t, texts} from "./words.js";

// The schema of the API: by the name of a value its kind, its most characters or its choices, and its part of a record.
const SCHEMA = texts.fields;
const TEXTS = new Set(["line", "lines", "keywords"]);
const options = (...values) => values.map((value) => [value, t(value)]);
const STARS = [["5", "★★★★★"], ["4", "★★★★"], ["3", "★★★"], ["2", "★★"], ["1", "★"], ...options("0", "-1")];
const EXACT = 5;  // decimals of a position that a form shows: a metre

// A field of the form, with the attributes of its element.
function field(name, attributes = {}) {
  const [kind, limit, part] = SCHEMA[name];
  const own = {name, kind, part, label: t(name)};
  if (kind === "flag") own.options = options("true", "false");
  if (kind === "choice") own.options = options(...limit);
  if (kind === "number") attributes.inputMode = "decimal";
  if (kind === "line" || kind === "lines") attributes.maxLength ??= limit;
  return {...own, attributes};
}

export const KEYWORDS = field("Keywords", {maxLength: 65536});
const POSITION = {
  name: "Position", kind: "position", label: t("Position"), attributes: {placeholder: "47.56903, 9.37510"},
};
export const MAIN = [field("Title"), field("Description"), {...field("Rating"), options: STARS}];
export const TIME = [field("TakenAtLocal", {type: "datetime-local", step: 1}), field("TimeZone")];
export const PLACE = [POSITION, field("Altitude"), field("Country", {maxLength: 2})];
export const RIGHTS = ["Artist", "Copyright", "License", "Subject", "Notes"].map((name) => field(name));
export const CAMERA = ["CameraMake", "CameraModel", "LensMake", "LensModel", "Iso", "FocalLength", "FNumber",
  "Exposure", "Type", "Scan", "Panorama"].map((name) => field(name));
export const GROUPS = [[t("group1"), [...PLACE, TIME[1]]], [t("group2"), RIGHTS], [t("group3"), CAMERA]];

// An error with a message for the field of this name, in the form of the API.
export class Wrong extends Error {
  constructor(name, message) {
    super(message);
    this.details = [{field: name, message}];
  }
}

// The element for a value. `none` is the label of the choice without a value; null: there is no such choice.
export function control({name, kind, options: choices, attributes}, id, none = "") {
  if (choices) {
    const all = none === null ? choices : [["", none], ...choices];
    return make("select", {name, id}, ...all.map(([value, label]) => make("option", {value, textContent: label})));
  }
  const common = {name, id, autocomplete: "off", dir: "auto", ...attributes};
  return kind === "lines" ? make("textarea", {rows: 3, ...common}) : make("input", common);
}

/**
 * The value of a record as its element has it.
 * @param {any} field
 * @param {PhotoRecord} record
 */
export function shown({name, kind, part, options: choices}, record) {
  const {Lat, Lng} = record, value = (part ? record[part] : record)[name];
  if (kind === "position") return Lat || Lng ? `${Lat.toFixed(EXACT)}, ${Lng.toFixed(EXACT)}` : "";
  if (kind === "time") return record.Year > 0 ? value.slice(0, 19) : "";
  if (choices) return String(value ?? (name === "Rating" ? 0 : ""));
  if (kind === "number") return value ? String(value) : "";
  return UNKNOWN.has(value) ? "" : value ?? "";
}

// The part of a request for a typed value. An empty number, time or position restores the value in the files.
export function sent(of, typed) {
  if (of.kind === "position") return position(typed);
  const value = valueOf(of, typed);
  return of.part ? {[of.part]: {[of.name]: value}} : {[of.name]: value};
}

function valueOf({name, kind, label}, typed) {
  if (!typed) return TEXTS.has(kind) && name !== "Country" && name !== "TimeZone" ? "" : null;
  if (kind === "time") return `${typed.length === 16 ? `${typed}:00` : typed}Z`;
  if (kind === "number") return numeric(typed, name, t("typeNumber", {field: label}));
  if (kind === "flag") return typed === "true";
  return name === "Country" ? typed.toLowerCase() : typed;
}

// The typed number. Throws an error with a message for a field if it is none.
export function numeric(typed, name, message) {
  const value = Number(typed.replace(",", ".").replace("−", "-"));
  if (!Number.isFinite(value)) throw new Wrong(name, message);
  return value;
}

function position(typed) {
  if (!typed) return {Lat: null, Lng: null};
  const parts = typed.split(/\s*[,;\s]\s*/).map((part) => (part ? Number(part) : NaN));
  if (parts.length !== 2 || !parts.every(Number.isFinite)) throw new Wrong("Position", t("typePosition"));
  return {Lat: parts[0], Lng: parts[1]};
}

// The name of the field of an error of the API or of `sent`.
export function fieldOf(error) {
  const name = error.details?.[0]?.field?.split(".").at(-1) ?? "";
  return name === "Lat" || name === "Lng" ? "Position" : name;
}
