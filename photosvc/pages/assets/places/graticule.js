// Lines of latitude and longitude with their degrees, where the map has neither tiles nor an outline that tells anything.

import {locale} from "../grid/words.js";

const L = globalThis.L;
const STEPS = [10, 5, 2, 1, .5, .2, .1, .05, .02, .01, .005, .002, .001, .0005];
const APART = 180; // pixels between two lines, at most about half as many again

function degrees(value, positive, negative) {
  const number = Math.abs(value).toLocaleString(locale, {maximumFractionDigits: 4});
  return `${number}°${value > 0 ? ` ${positive}` : value < 0 ? ` ${negative}` : ""}`;
}

function multiples(low, high, step) {
  const first = Math.ceil(low / step);
  return Array.from({length: Math.max(0, Math.floor(high / step) - first + 1)}, (_, index) => Number(((first + index) * step).toFixed(4)));
}

function label(map, point, text, className) {
  return L.marker(map.containerPointToLatLng(point), {icon: L.divIcon({className: `degrees ${className}`, html: text, iconSize: null}), keyboard: false, interactive: false, pane: "lines"});
}

// Draws the lines of the present view into `layer` and removes those of the previous view.
export function drawGraticule(map, layer) {
  layer.clearLayers();
  const bounds = map.getBounds(), size = map.getSize();
  const wanted = (bounds.getEast() - bounds.getWest()) * APART / size.x;
  const step = STEPS.findLast((one) => one >= wanted) ?? STEPS[0];
  const line = (points) => L.polyline(points, {className: "graticule", weight: 1, interactive: false, pane: "lines"}).addTo(layer);
  for (const lat of multiples(Math.max(-85, bounds.getSouth()), Math.min(85, bounds.getNorth()), step)) {
    line([[lat, bounds.getWest()], [lat, bounds.getEast()]]);
    label(map, [size.x, map.latLngToContainerPoint([lat, bounds.getWest()]).y], degrees(lat, "N", "S"), "row").addTo(layer);
  }
  for (const lng of multiples(bounds.getWest(), bounds.getEast(), step)) {
    line([[bounds.getSouth(), lng], [bounds.getNorth(), lng]]);
    label(map, [map.latLngToContainerPoint([bounds.getNorth(), lng]).x, 0], degrees(((lng + 540) % 360 + 360) % 360 - 180, "E", "W"), "column").addTo(layer);
  }
}
