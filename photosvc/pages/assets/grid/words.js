// Words in the page's language.

const {lang} = document.documentElement;
export const locale = navigator.languages.find((one) => one.startsWith(lang)) ?? lang;
export const texts = JSON.parse(document.querySelector("#texts").textContent);
const rules = new Intl.PluralRules(locale);
// The form for `num`.
export function t(name, values = {}) {
  const text = texts[name] ?? name;
  return [text].flat().at(rules.select(values.num) === "one" ? 0 : -1)
    .replace(/%\((\w+)\)s/g, (_, key) => (typeof values[key] === "number" ? number(values[key]) : values[key]));
}

const form = (parts) => new Intl.DateTimeFormat(locale, {timeZone: "UTC", ...parts});
const long = form({weekday: "long", day: "numeric", month: "long", year: "numeric"});
const short = form({weekday: "short", day: "numeric", month: "short", year: "numeric"});
const shorter = form({day: "numeric", month: "short", year: "numeric"});
const shortest = form({day: "numeric", month: "numeric", year: "2-digit"});
const plain = form({day: "numeric", month: "long", year: "numeric"});
const month = form({month: "long", year: "numeric"});
const brief = form({month: "short", year: "numeric"});
const numbers = new Intl.NumberFormat(locale);

const date = (name, day) => new Date(`${name}-${String(day || 1).padStart(2, "0")}T12:00:00Z`);

export const number = (value) => numbers.format(value);
export const photos = (num) => t("photos", {num});
export const monthName = (name) => (name === "0000-00" ? t("noDate") : month.format(date(name)));
export const monthBrief = (name) => (name === "0000-00" ? t("noDate") : brief.format(date(name)));
// The day as a heading of at most `room` pixels.
export function dayName(name, day, room = 400) {
  if (name === "0000-00") return t("noDate");
  if (day === 0) return (room < 150 ? brief : month).format(date(name));
  return (room < 110 ? shortest : room < 160 ? shorter : room < 250 ? short : long).format(date(name, day));
}
export const dayPlain = (name, day) =>
  (name === "0000-00" ? "" : day === 0 ? month.format(date(name)) : plain.format(date(name, day)));

export function playing(nanoseconds) {
  const seconds = Math.round(nanoseconds / 1e9), two = (value) => String(value).padStart(2, "0");
  const minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60);
  return hours ? `${hours}:${two(minutes % 60)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
