// The facts of a photo and of its files, with searches for photos that share them.

import {may, site} from "./api.js";
import {icon, make} from "./elements.js";
import {locale, monthName, number, playing, t} from "./words.js";

const full = new Intl.DateTimeFormat(locale, {dateStyle: "full", timeStyle: "short", timeZone: "UTC"});
const UNKNOWN = new Set(["", "Unknown", "zz"]);
const UNITS = ["bytes", "kB", "MB", "GB", "TB"];
// Texts that users see as facts if they may not change them; others see them in the form.
const TEXTS = ["Subject", "Artist", "Copyright", "License", "Notes"];

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

const link = (textContent, query) => make("a", {href: `${site.photos}?q=${encodeURIComponent(query)}`, textContent});
// The query for photos of which a filter has this value.
const withValue = (name, value) => `${name}:"${value.replace(/[\\"|&*]|(?<=^\s*)[!-]/g, "\\$&")}"`;

/** @param {PhotoRecord} record */
export function facts(record) {
  const list = make("dl"), {Albums, Details, Files, Labels, Lat, Lng, Rating} = record;
  const add = (name, ...values) => {
    const parts = values.flatMap((value, at) => (at ? [", ", value] : [value]));
    if (parts.some(Boolean)) list.append(make("dt", {textContent: t(name)}), make("dd", {dir: "auto"}, ...parts));
  };
  const addLink = (name, text, filter, value) => {
    if (!UNKNOWN.has(text)) add(name, UNKNOWN.has(value) ? text : link(text, withValue(filter, value)));
  };
  add("factTaken", taken(record));
  addLink("factPlace", record.PlaceLabel, "city", record.PlaceCity);
  if (Lat || Lng) {
    const at = [Lat.toFixed(5), Lng.toFixed(5)];
    add("factPosition", link(at.join(", "), `near:${record.UID}`));
    list.lastElementChild.append(" ", make("a", {href: `${site.places}#14/${at.join("/")}`, textContent: t("onMap")}));
  }
  if (!UNKNOWN.has(record.CameraModel)) {
    addLink("factCamera", `${record.CameraMake} ${record.CameraModel}`.trim(), "camera", record.CameraModel);
  }
  addLink("factLens", record.LensModel, "lens", record.LensModel);
  add("factExposure", exposure(record));
  if (record.Duration) add("factDuration", playing(record.Duration));
  if (Rating > 0 && !may("update")) add("factRating", "★".repeat(Rating));
  const people = new Set(Files.flatMap(({Markers}) => Markers.map(({Name}) => Name)).filter(Boolean));
  add("factPeople", ...[...people].map((name) => link(name, withValue("subject", name))));
  add("factAlbums", ...Albums.map(({UID, Title}) => make("a", {href: albumPage(UID), textContent: Title})));
  add("factLabels", ...Labels.map(({Label: {Name}}) => link(Name, withValue("label", Name))));
  if (!may("update")) for (const name of TEXTS) add(name, Details[name]);
  return list;
}

const albumPage = (uid) => site.albumpage.replace("UID", uid);

/**
 * The moment at which a photo was taken, as exactly as it is known, with a search for photos of that time.
 * @param {PhotoRecord} record
 */
function taken({Year: year, Month: month, Day: day, TakenAtLocal: local}) {
  if (year <= 0) return t("dateUnknown");
  if (month <= 0) return link(String(year), `year:${year}`);
  if (day <= 0) return link(monthName(local.slice(0, 7)), `year:${year} month:${month}`);
  return link(full.format(new Date(local)), `taken:${local.slice(0, 10)}`);
}

/** @param {PhotoRecord} record */
function exposure({Exposure, FNumber, FocalLength, Iso}) {
  const parts = [Exposure && `${Exposure} s`, FNumber && `f/${FNumber}`, Iso && `ISO ${Iso}`,
    FocalLength && `${FocalLength} mm`];
  return parts.filter(Boolean).join(" · ");
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
