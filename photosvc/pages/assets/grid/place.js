// The place of a photo by its name, or by a pin on a map. The service derives town and time zone from the position.

import {get, queryString, site} from "./api.js";
import {button, icon, make} from "./elements.js";
import {t} from "./words.js";

const WAIT = 150;  // milliseconds after the last key
const CLOSEST = 9; // the zoom up to which the outline is exact enough

// Puts a field for the name of a place, and a button for the map, before the fields of the line `fact`. `write(name,
// text)` saves a value.
export function finding(fact, write) {
  const list = make("datalist", {id: "places-named"});
  const input = make("input", {name: "PlaceName", autocomplete: "off", dir: "auto", placeholder: t("placeExample")});
  const form = fact.querySelector("form");
  let timer = 0, found = [];
  const choose = ({lat, lng}) => {
    input.value = "";
    write("Position", `${lat}, ${lng}`);
  };
  const ask = async () => {
    const q = input.value.trim();
    found = q ? await get(`/places/named${queryString({q})}`).catch(() => []) : [];
    list.replaceChildren(...found.map(({label}) => make("option", {value: label})));
  };
  input.setAttribute("list", list.id);
  input.addEventListener("input", () => {
    clearTimeout(timer);
    const one = found.find(({label}) => label === input.value);
    if (one) choose(one);
    else timer = setTimeout(ask, WAIT);
  });
  // Enter takes the first place.
  input.addEventListener("keydown", async (event) => {
    if (event.key !== "Enter" || !input.value.trim()) return;
    event.preventDefault();
    clearTimeout(timer);
    await ask();
    if (found.length) choose(found[0]);
  });
  const pin = button({}, () => drawMap(pin, form.elements.Position.value, choose).catch(() => {}), icon("pin"),
    t("pinOnMap"));
  form.prepend(make("label", {}, make("span", {textContent: t("placeByName")}), input), list, pin);
}

// Shows a map whose middle is the place.
async function drawMap(after, position, choose) {
  after.parentElement.querySelector(".pinning")?.remove();
  if (!("L" in globalThis)) {
    const {href} = new URL("../vendor/leaflet/leaflet.css", import.meta.url);
    document.head.append(make("link", {rel: "stylesheet", href}));
    await import(new URL("../vendor/leaflet/leaflet.js", import.meta.url).href);
  }
  const {L} = /** @type {any} */ (globalThis), area = make("div", {tabIndex: 0});
  const take = button({className: "primary", textContent: t("takePlace")}, () => {
    const {lat, lng} = map.getCenter().wrap();
    box.remove();
    choose({lat: lat.toFixed(5), lng: lng.toFixed(5)});
  });
  const box = make("div", {className: "pinning"}, area, take);
  after.after(box);
  area.setAttribute("role", "application");
  area.setAttribute("aria-label", t("pinOnMap"));
  const at = position.split(",").map(Number), isKnown = at.length === 2;
  const map = L.map(area, {attributionControl: false, maxZoom: CLOSEST, zoomControl: false, worldCopyJump: true});
  L.control.zoom({zoomInTitle: t("closer"), zoomOutTitle: t("farther")}).addTo(map);
  for (const turn of [-360, 0, 360])
    L.imageOverlay(site.outline, [[-85.0511287798, turn - 180], [85.0511287798, turn + 180]], {alt: ""}).addTo(map);
  map.setView(isKnown ? at : [20, 10], isKnown ? CLOSEST : 1, {animate: false});
  area.focus();
}
