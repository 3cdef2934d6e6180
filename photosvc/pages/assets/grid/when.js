// When and where a photo was taken, as parts of a line.

import {make} from "./elements.js";
import {locale, monthName, t} from "./words.js";

export const UNKNOWN = new Set(["", "Unknown", "zz"]);
const date = new Intl.DateTimeFormat(locale, {weekday: "short", day: "numeric", month: "long", year: "numeric",
  timeZone: "UTC"});

export const muted = (text) => make("small", {textContent: text});

/**
 * The moment at which a photo was taken, as exactly as it is known.
 * @param {PhotoRecord} record
 */
export function taken({Year, Month, Day, TakenAtLocal: local}) {
  if (Year <= 0) return [];
  if (Month <= 0) return [String(Year)];
  if (Day <= 0) return [monthName(local.slice(0, 7))];
  return [date.format(new Date(local)), muted(` · ${local.slice(11, 16)}`)];
}

/** @param {PhotoRecord} record */
export function placeName({PlaceLabel, Lat, Lng}) {
  const [city, ...rest] = UNKNOWN.has(PlaceLabel) ? [] : PlaceLabel.split(", ");
  if (!city) return Lat || Lng ? [`${Lat.toFixed(5)}, ${Lng.toFixed(5)}`] : [];
  return rest.length ? [city, muted(` · ${rest.join(", ")}`)] : [city];
}

/**
 * When and where a photo was taken, for what an upload became.
 * @param {PhotoRecord} record
 */
export const whenAndWhere = (record) => [taken(record)[0] ?? t("dateUnknown"), placeName(record)[0]].filter(Boolean);
