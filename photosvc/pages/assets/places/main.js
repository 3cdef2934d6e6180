// The map of a search. Where it has been moved to is kept in the address: #zoom/latitude/longitude.

import {queryString, get, site, thumbnail} from "../grid/api.js";
import "../grid/suggest.js";
import {isStill, make} from "../grid/elements.js";
import {number, photos, t} from "../grid/words.js";
import {area, gather} from "./gather.js";

const L = globalThis.L;
const EDGE = 85.05;
const DRAWN = 9; // up to this zoom the outline is true enough; without tiles the map comes no closer
const DEEPEST = site.tiles ? 18 : DRAWN;
const FINEST = 20; // the zoom of the finest clusters
const NAMED = 6; // from this zoom on places have names, where no tiles have them
const HASH = /^#(\d{1,2})\/(-?\d{1,2}(?:\.\d+)?)\/(-?\d{1,3}(?:\.\d+)?)$/;

function placeOfHash() {
  const [, zoom, lat, lng] = HASH.exec(location.hash) || [];
  if (zoom === undefined) return null;
  const center = [Math.max(-EDGE, Math.min(EDGE, Number(lat))), Math.max(-180, Math.min(180, Number(lng)))];
  return {zoom: Math.min(Number(zoom), DEEPEST), center};
}

// The clusters of the search in the area `west,south,east,north`; empty: everywhere.
const clustersIn = (bbox, zoom, signal) =>
  get(`/photos/clusters${queryString({q: site.query, s: site.album, bbox, zoom: String(zoom)})}`, signal);

function searchOf(squares) {
  const q = `${site.within} latlng:${squares.join("|")}`.trim(), order = site.order === "newest" ? "" : site.order;
  return `${site.photos}${queryString({q, order})}`;
}

function start(container) {
  const around = container.parentElement, view = around.querySelector(".view");
  around.hidden = false;
  const still = isStill();
  const map = L.map(container, {
    attributionControl: false, zoomControl: false, worldCopyJump: true, maxZoom: DEEPEST,
    minZoom: widest(container),
    zoomAnimation: !still, fadeAnimation: !still, inertia: !still,
  });
  L.control.zoom({zoomInTitle: t("closer"), zoomOutTitle: t("farther")}).addTo(map);
  L.control.scale().addTo(map);
  map.createPane("outline"); // below that of tiles
  const outline = [-360, 0, 360].map((turn) => {
    const bounds = [[-85.0511287798, turn - 180], [85.0511287798, turn + 180]];
    return L.imageOverlay(container.dataset.outline, bounds, {pane: "outline", className: "outline", alt: ""});
  });
  if (site.tiles) L.tileLayer(site.tiles, {maxZoom: DEEPEST, referrerPolicy: "strict-origin"}).addTo(map);
  const layer = L.layerGroup().addTo(map);
  const draw = () => {
    const drawn = map.getZoom() <= DRAWN;
    for (const copy of outline) drawn ? copy.addTo(map) : copy.remove();
    container.classList.toggle("plain", !drawn);
  };
  map.on("zoomend", draw);

  let running = null, moved = false;
  const show = async () => {
    running?.abort();
    running = new AbortController();
    const areaOf = (bounds) => area(bounds.getSouth(), bounds.getWest(), bounds.getNorth(), bounds.getEast());
    const seen = map.getBounds(), [north, east, south, west] = areaOf(seen);
    const [top, right, bottom, left] = areaOf(seen.pad(.2));
    try {
      const found = await clustersIn([left, bottom, right, top].join(","), Math.round(map.getZoom()), running.signal);
      mark(found, map, layer);
      const across = west > east, inside = (lng) => (across ? lng >= west || lng <= east : lng >= west && lng <= east);
      const count = found.clusters.filter(([lat, lng]) => lat >= south && lat <= north && inside(lng))
        .reduce((sum, one) => sum + one[2], 0);
      const text = count ? t("inView", {num: count}) : t("noneInView");
      const href = searchOf([[north, east, south, west].join(",")]);
      view.replaceChildren(count ? make("a", {href, textContent: text}) : make("span", {textContent: text}));
    } catch (error) {
      if (error.name !== "AbortError") view.replaceChildren(make("span", {textContent: error.message}));
    }
  };
  map.on("moveend", () => {
    const {lat, lng} = map.getCenter().wrap();
    if (Math.abs(lat) > EDGE) { // beyond the end of the world
      map.setView([Math.sign(lat) * (EDGE - .05), lng], map.getZoom(), {animate: false});
      return;
    }
    const digits = Math.max(2, Math.ceil(map.getZoom() / 3));
    const hash = `#${Math.round(map.getZoom())}/${lat.toFixed(digits)}/${lng.toFixed(digits)}`;
    if (moved && location.hash !== hash)
      history.replaceState(history.state, "", location.pathname + location.search + hash);
    show();
  });
  addEventListener("online", show);
  addEventListener("hashchange", () => {
    const place = placeOfHash();
    if (place) map.setView(place.center, place.zoom, {animate: false});
  });
  // A map that is dragged by one of its discs opens nothing.
  let dragged = false;
  map.on("mousedown", () => { dragged = false; }).on("drag", () => { dragged = true; });
  container.addEventListener("pointerdown", () => { dragged = false; }, true);
  container.addEventListener("click", (event) => { if (dragged) event.preventDefault(); }, true);
  new ResizeObserver(() => {
    const farthest = map.getZoom() === map.getMinZoom();
    map.invalidateSize({animate: false}).setMinZoom(widest(container));
    if (farthest) map.setZoom(map.getMinZoom(), {animate: false});
  }).observe(container);

  const place = placeOfHash();
  const begin = (bounds) => {
    if (bounds) map.fitBounds(bounds, {padding: [48, 48], maxZoom: 12, animate: false});
    else map.setView(place?.center || [20, 10], place?.zoom ?? map.getMinZoom(), {animate: false});
    draw();
    moved = true;
  };
  if (place) begin();
  else extent().then(begin, () => begin());
}

// The zoom at which the world is as wide as the map, so that nothing is seen twice.
const widest = (container) => Math.max(1, Math.log2(container.clientWidth / 256));

// Where the photos are. Squares of the whole globe are wide, so that it is asked again for the area that they cover.
async function extent() {
  let bounds = null, bbox = "", side = 0;
  for (let step = 0; step < 6; step++) {
    const {clusters, cell} = await clustersIn(bbox, FINEST);
    if (!clusters.length) break;
    bounds = L.latLngBounds(clusters.map(([lat, lng]) => [lat, lng]));
    if (cell === side || clusters.every((one) => one[2] === 1)) break;
    side = cell;
    const edges = [Math.max(-180, bounds.getWest() - cell), Math.max(-90, bounds.getSouth() - cell),
      Math.min(180, bounds.getEast() + cell), Math.min(90, bounds.getNorth() + cell)];
    bbox = edges.map((value) => value.toFixed(7)).join(",");
  }
  return bounds;
}

function mark({clusters, cell}, map, layer) {
  const zoom = map.getZoom(), on = ({x, y}) => map.unproject([x, y], zoom), named = new Set();
  const middle = map.getCenter().lng,
    held = document.activeElement?.closest?.(".spot") ? document.activeElement.href : "";
  const discs = gather(clusters, cell,
    (lat, lng) => map.project([lat, lng + 360 * Math.round((middle - lng) / 360)], zoom));
  layer.clearLayers();
  for (const {point, count, hash, place, turn, squares} of discs) {
    const size = count >= 100 ? 52 : count >= 10 ? 48 : 44, name = place.split(",")[0];
    const text = count > 1 && place
      ? t("near", {num: count, place}) : [photos(count), place].filter(Boolean).join(", ");
    const link = make("a", {href: searchOf(squares), ariaLabel: text, title: text},
      make("img", {src: thumbnail({hash, turn}, "tile_100"), alt: "", width: size, height: size, decoding: "async",
        draggable: false}));
    if (count > 1) link.append(make("b", {textContent: number(count)}));
    if (zoom >= NAMED && !site.tiles && name && !named.has(name))
      link.append(make("i", {dir: "auto", textContent: name}));
    named.add(name);
    const icon = L.divIcon({className: "spot", html: link, iconSize: [size, size]});
    L.marker(on(point), {icon, keyboard: false, bubblingMouseEvents: true}).addTo(layer);
    if (link.href === held) link.focus({preventScroll: true});
  }
}

const container = document.querySelector("#map");
if (container && L) start(container);
