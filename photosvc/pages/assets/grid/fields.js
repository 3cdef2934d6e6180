// The values of photos that people change: how a form asks for each, and how each is read from records and sent.

import {make} from "./icons.js";
import {t} from "./words.js";

const options = (...values) => values.map((value) => [value, t(value)]);
const YES_NO = options("true", "false");
const STARS = [["5", "★★★★★"], ["4", "★★★★"], ["3", "★★★"], ["2", "★★"], ["1", "★"], ...options("0", "-1")];
const TYPES = options("image", "raw", "live", "video", "animated");
const UNKNOWN = new Set(["Unknown", "zz"]);
const EXACT = 5;  // decimals of a position that a form shows: a metre

// Texts of one line unless they are `long`, have `options`, or are a `number`; `details`: in the part of that name.
const text = (name, maxLength, more = {}) => ({name, label: t(name), attributes: {maxLength}, ...more});
const number = (name, placeholder) =>
  ({name, label: t(name), number: true, attributes: {inputMode: "decimal", placeholder}});
const choice = (name, options) => ({name, label: t(name), options, attributes: {}});

export const KEYWORDS = text("Keywords", 65536, {details: true});
export const TIME = {name: "TakenAtLocal", label: t("TakenAtLocal"), attributes: {type: "datetime-local", step: 1}};
export const MAIN = [
  text("Title", 200),
  text("Description", 4096, {long: true}),
  choice("Rating", STARS),
];
export const GROUPS = [
  [t("group1"), [
    {name: "Position", label: t("Position"), attributes: {placeholder: "47.56903, 9.37510"}},
    number("Altitude", "395"),
    text("Country", 2, {attributes: {maxLength: 2, placeholder: "ch"}}),
    text("TimeZone", 64, {attributes: {maxLength: 64, placeholder: "Europe/Zurich"}}),
  ]],
  [t("group2"), [
    text("Subject", 255, {details: true}), text("Artist", 255, {details: true}),
    text("Copyright", 255, {details: true}), text("License", 255, {details: true}),
    text("Notes", 4096, {details: true, long: true}),
  ]],
  [t("group3"), [
    text("CameraMake", 255), text("CameraModel", 255),
    text("LensMake", 255), text("LensModel", 255),
    number("Iso", "400"), number("FocalLength", "50"), number("FNumber", "2.8"),
    text("Exposure", 32, {attributes: {maxLength: 32, placeholder: "1/250"}}),
    choice("Type", TYPES), choice("Scan", YES_NO), choice("Panorama", YES_NO),
  ]],
];

// An error with a message for the field of this name, in the form of the API.
export class Wrong extends Error {
  constructor(field, message) {
    super(message);
    this.details = [{field, message}];
  }
}

// The element that asks for a value; of choices, `none` is the one that is no value.
export function control({name, long, options, attributes}, id, none = "") {
  if (options) {
    const all = none === null ? options : [["", none], ...options];
    return make("select", {name, id}, ...all.map(([value, label]) => make("option", {value, textContent: label})));
  }
  const common = {name, id, autocomplete: "off", dir: "auto", ...attributes};
  return long ? make("textarea", {rows: 3, ...common}) : make("input", common);
}

// The value of a record as its element has it.
export function shown({name, details, number, options}, record) {
  if (name === "Position")
    return record.Lat || record.Lng ? `${record.Lat.toFixed(EXACT)}, ${record.Lng.toFixed(EXACT)}` : "";
  if (name === "TakenAtLocal") return record.Year > 0 ? record.TakenAtLocal.slice(0, 19) : "";
  const value = (details ? record.Details : record)[name];
  if (options) return String(value ?? (name === "Rating" ? 0 : ""));
  return number ? (value ? String(value) : "") : UNKNOWN.has(value) ? "" : value ?? "";
}

// The part of a request for a typed value; an empty number, time or position restores the value of the files.
export function sent({name, label, details, number, options, attributes}, typed) {
  if (name === "Position") return position(typed);
  let value = typed;
  if (attributes.type === "datetime-local") value = typed ? `${typed.length === 16 ? `${typed}:00` : typed}Z` : null;
  else if (number) value = typed ? numeric(name, label, typed) : null;
  else if (options) value = typed === "" ? null : options === YES_NO ? typed === "true" : name === "Rating"
    ? Number(typed) : typed;
  else if (name === "Country" || name === "TimeZone")
    value = name === "Country" ? typed.toLowerCase() || null : typed || null;
  return details ? {Details: {[name]: value}} : {[name]: value};
}

function numeric(name, label, typed) {
  const value = Number(typed.replace(",", ".").replace("−", "-"));
  if (!Number.isFinite(value)) throw new Wrong(name, t("typeNumber", {field: label}));
  return value;
}

function position(typed) {
  if (!typed) return {Lat: null, Lng: null};
  const parts = typed.split(/\s*[,;\s]\s*/).map((part) => (part ? Number(part) : NaN));
  if (parts.length !== 2 || !parts.every(Number.isFinite)) throw new Wrong("Position", t("typePosition"));
  return {Lat: parts[0], Lng: parts[1]};
}

// The name of the field that an error of the API or of `sent` speaks of.
export function fieldOf(error) {
  const name = error.details?.[0]?.field?.split(".").at(-1) ?? "";
  return name === "Lat" || name === "Lng" ? "Position" : name;
}
