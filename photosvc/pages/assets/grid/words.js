// Dates and numbers in the form that the browser's language has for them.

const long = new Intl.DateTimeFormat(undefined, {weekday: "long", day: "numeric", month: "long", year: "numeric", timeZone: "UTC"});
const short = new Intl.DateTimeFormat(undefined, {weekday: "short", day: "numeric", month: "short", year: "numeric", timeZone: "UTC"});
const shorter = new Intl.DateTimeFormat(undefined, {day: "numeric", month: "short", year: "numeric", timeZone: "UTC"});
const shortest = new Intl.DateTimeFormat(undefined, {day: "numeric", month: "numeric", year: "2-digit", timeZone: "UTC"});
const plain = new Intl.DateTimeFormat(undefined, {day: "numeric", month: "long", year: "numeric", timeZone: "UTC"});
const month = new Intl.DateTimeFormat(undefined, {month: "long", year: "numeric", timeZone: "UTC"});
const brief = new Intl.DateTimeFormat(undefined, {month: "short", year: "numeric", timeZone: "UTC"});
const numbers = new Intl.NumberFormat();

const date = (name, day) => new Date(`${name}-${String(day || 1).padStart(2, "0")}T12:00:00Z`);

export const number = (value) => numbers.format(value);
export const photos = (count) => `${number(count)} ${count === 1 ? "photo" : "photos"}`;
export const monthName = (name) => (name === "0000-00" ? "No date" : month.format(date(name)));
export const monthBrief = (name) => (name === "0000-00" ? "No date" : brief.format(date(name)));
// The day as a heading with so many pixels of room.
export function dayName(name, day, room = 400) {
  if (name === "0000-00") return "No date";
  if (day === 0) return (room < 150 ? brief : month).format(date(name));
  return (room < 110 ? shortest : room < 160 ? shorter : room < 250 ? short : long).format(date(name, day));
}
export const dayPlain = (name, day) => (name === "0000-00" ? "" : day === 0 ? month.format(date(name)) : plain.format(date(name, day)));

export function playing(nanoseconds) {
  const seconds = Math.round(nanoseconds / 1e9), two = (value) => String(value).padStart(2, "0");
  const minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60);
  return hours ? `${hours}:${two(minutes % 60)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
