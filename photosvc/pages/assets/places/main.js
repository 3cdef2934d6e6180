// The map of a search. The address has its place: #zoom/latitude/longitude.

import {get, queryString, site, thumbnail} from "../grid/api.js";
import "../grid/suggest.js";
import {isStill, make} from "../grid/elements.js";
import {number, photos, t} from "../grid/words.js";
import {area, gather} from "./gather.js";

const L = globalThis.L;
const EDGE = 85.05;
const DRAWN = 9; // the outline is exact enough up to this zoom, which is the closest one without tiles
const DEEPEST = site.tiles ? 18 : DRAWN;
const FINEST = 20; // the zoom of the finest clusters
const NAMED = 6; // the first zoom at which discs have names of places, if no tiles have them
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

class PhotoMap {
  #container; #map; #view; #discs; #outline;
  #running = null;
  #isMoved = false;

  constructor(container) {
    const around = container.parentElement, isMoving = !isStill();
    this.#container = container;
    this.#view = around.querySelector(".view");
    around.hidden = false;
    this.#map = L.map(container, {
      attributionControl: false, zoomControl: false, worldCopyJump: true, maxZoom: DEEPEST, minZoom: widest(container),
      zoomAnimation: isMoving, fadeAnimation: isMoving, inertia: isMoving,
    });
    L.control.zoom({zoomInTitle: t("closer"), zoomOutTitle: t("farther")}).addTo(this.#map);
    L.control.scale().addTo(this.#map);
    this.#map.createPane("outline");  // below the pane of tiles
    this.#outline = [-360, 0, 360].map((turn) => {
      const bounds = [[-85.0511287798, turn - 180], [85.0511287798, turn + 180]];
      return L.imageOverlay(container.dataset.outline, bounds, {pane: "outline", className: "outline", alt: ""});
    });
    if (site.tiles) L.tileLayer(site.tiles, {maxZoom: DEEPEST, referrerPolicy: "strict-origin"}).addTo(this.#map);
    this.#discs = L.layerGroup().addTo(this.#map);
    this.#listen();
    if (placeOfHash()) this.#begin();
    else extent().then((bounds) => this.#begin(bounds), () => this.#begin());
  }

  #begin(bounds = null) {
    const place = placeOfHash();
    if (bounds) this.#map.fitBounds(bounds, {padding: [48, 48], maxZoom: 12, animate: false});
    else this.#map.setView(place?.center || [20, 10], place?.zoom ?? this.#map.getMinZoom(), {animate: false});
    this.#drawOutline();
    this.#isMoved = true;
  }

  #listen() {
    const map = this.#map, container = this.#container;
    map.on("zoomend", () => this.#drawOutline());
    map.on("moveend", () => this.#moved());
    addEventListener("online", () => this.#show());
    addEventListener("hashchange", () => {
      const place = placeOfHash();
      if (place) map.setView(place.center, place.zoom, {animate: false});
    });
    // A map that is dragged by one of its discs opens nothing.
    let isDragged = false;
    map.on("mousedown", () => { isDragged = false; }).on("drag", () => { isDragged = true; });
    container.addEventListener("pointerdown", () => { isDragged = false; }, true);
    container.addEventListener("click", (event) => { if (isDragged) event.preventDefault(); }, true);
    new ResizeObserver(() => {
      const isFarthest = map.getZoom() === map.getMinZoom();
      map.invalidateSize({animate: false}).setMinZoom(widest(container));
      if (isFarthest) map.setZoom(map.getMinZoom(), {animate: false});
    }).observe(container);
  }

  #drawOutline() {
    const isDrawn = this.#map.getZoom() <= DRAWN;
    for (const copy of this.#outline) isDrawn ? copy.addTo(this.#map) : copy.remove();
    this.#container.classList.toggle("plain", !isDrawn);
  }

  // Keeps the place in the address, and shows the photos there.
  #moved() {
    const map = this.#map, {lat, lng} = map.getCenter().wrap();
    if (Math.abs(lat) > EDGE) {  // beyond the end of the world
      map.setView([Math.sign(lat) * (EDGE - .05), lng], map.getZoom(), {animate: false});
      return;
    }
    const digits = Math.max(2, Math.ceil(map.getZoom() / 3));
    const hash = `#${Math.round(map.getZoom())}/${lat.toFixed(digits)}/${lng.toFixed(digits)}`;
    const address = location.pathname + location.search + hash;
    if (this.#isMoved && location.hash !== hash) history.replaceState(history.state, "", address);
    this.#show();
  }

  async #show() {
    this.#running?.abort();
    this.#running = new AbortController();
    const bounds = this.#map.getBounds(), seen = areaOf(bounds), [top, right, bottom, left] = areaOf(bounds.pad(.2));
    try {
      const bbox = [left, bottom, right, top].join(",");
      const answer = await clustersIn(bbox, Math.round(this.#map.getZoom()), this.#running.signal);
      mark(answer, this.#map, this.#discs);
      const num = countIn(seen, answer.clusters);
      const link = {href: searchOf([seen.join(",")]), textContent: t("inView", {num})};
      this.#view.replaceChildren(num ? make("a", link) : make("span", {textContent: t("noneInView")}));
    } catch (error) {
      if (error.name !== "AbortError") this.#view.replaceChildren(make("span", {textContent: error.message}));
    }
  }
}

// The area [north, east, south, west] of bounds of the map.
const areaOf = (bounds) => area(bounds.getSouth(), bounds.getWest(), bounds.getNorth(), bounds.getEast());

// The number of photos in an area, which crosses 180 degrees if its west is east of its east.
function countIn(seen, clusters) {
  const [north, east, south, west] = seen, isAcross = west > east;
  const isWithin = (lng) => (isAcross ? lng >= west || lng <= east : lng >= west && lng <= east);
  const inside = clusters.filter(([lat, lng]) => lat >= south && lat <= north && isWithin(lng));
  return inside.reduce((sum, [, , count]) => sum + count, 0);
}

// The zoom at which the world is as wide as the map, so that nothing is seen twice.
const widest = (container) => Math.max(1, Math.log2(container.clientWidth / 256));

// The bounds of the photos. Squares of the whole globe are large: each further request asks for the area of the last.
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

// Puts the discs of clusters into a layer of the map; a disc with the focus keeps it.
function mark({clusters, cell}, map, layer) {
  const zoom = map.getZoom(), middle = map.getCenter().lng, named = new Set();
  const focused = document.activeElement?.closest?.(".spot") ? document.activeElement.href : "";
  const project = (lat, lng) => map.project([lat, lng + 360 * Math.round((middle - lng) / 360)], zoom);
  layer.clearLayers();
  for (const cluster of gather(clusters, cell, project)) {
    const size = cluster.count >= 100 ? 52 : cluster.count >= 10 ? 48 : 44, name = cluster.place.split(",")[0];
    const link = disc(cluster, size), hasName = zoom >= NAMED && !site.tiles && name && !named.has(name);
    if (hasName) link.append(make("i", {dir: "auto", textContent: name}));
    named.add(name);
    const icon = L.divIcon({className: "spot", html: link, iconSize: [size, size]}), {x, y} = cluster.point;
    L.marker(map.unproject([x, y], zoom), {icon, keyboard: false, bubblingMouseEvents: true}).addTo(layer);
    if (link.href === focused) link.focus({preventScroll: true});
  }
}

// The link of a disc: a picture, and the number of its photos.
function disc({count, hash, place, squares, turn}, size) {
  const isNear = count > 1 && place;
  const text = isNear ? t("near", {num: count, place}) : [photos(count), place].filter(Boolean).join(", ");
  const src = thumbnail({hash, turn}, "tile_100");
  const picture = make("img", {src, alt: "", width: size, height: size, decoding: "async", draggable: false});
  const link = make("a", {href: searchOf(squares), ariaLabel: text, title: text}, picture);
  if (count > 1) link.append(make("b", {textContent: number(count)}));
  return link;
}

const container = document.querySelector("#map");
if (container && L) new PhotoMap(container);
