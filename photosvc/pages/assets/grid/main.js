// The photos of a search as a grid of any length. Other orders than by time stay pages of links.

import {site} from "./api.js";
import {watchMoving} from "./moving.js";
import "./suggest.js";
import {Scrubber} from "./scrubber.js";
import {Selection} from "./selection.js";
import {Timeline} from "./timeline.js";
import {uploading} from "./upload.js";
import {help} from "./help.js";
import {photos} from "./words.js";
import {Window} from "./window.js";

// Keys that lead to the next and the previous month and year.
const JUMPS = {m: "ArrowDown", M: "ArrowUp", y: "PageDown", Y: "PageUp"};
const HASH = /^#(\d{4}-\d\d)(?:\.(\d+))?$/;

async function start(root) {
  const timeline = new Timeline();
  await timeline.load();
  if (!timeline.total) return;
  const [, name, above] = HASH.exec(location.hash) || [];
  const first = Math.max(0, name ? timeline.find(name) : 0);
  await timeline.want(first);
  history.scrollRestoration = "manual";
  const header = document.querySelector(".search");
  document.querySelector("nav.pages")?.remove();
  const grid = new Window(root, timeline);
  if (header) {
    new ResizeObserver(() => {
      grid.top = header.offsetHeight;
      document.documentElement.style.setProperty("--head", `${grid.top}px`);
    }).observe(header);
  }
  const scrubber = new Scrubber(root, timeline, grid);
  if (name) grid.goTo(first, Number(above) || 0); else grid.goTo(0, 0);
  scrubber.draw();

  grid.addEventListener("rest", ({detail: {month, offset}}) => {
    if (history.state?.viewer) return;
    const top = month === 0 && offset < 1;
    const hash = top ? "" : `#${timeline.months[month][0]}.${Math.round(offset)}`;
    if (location.hash !== hash) history.replaceState(history.state, "", location.pathname + location.search + hash);
  });
  let reloading = false;
  timeline.addEventListener("moved", async ({detail: next}) => {
    if (reloading) return;
    reloading = true;
    const place = grid.place(), month = timeline.months[place.month]?.[0];
    try { await timeline.load(); } finally { reloading = false; }
    const at = Math.max(0, timeline.find(month));
    grid.reset({month: at, offset: timeline.find(month) < 0 ? 0 : place.offset});
    scrubber.draw();
    grid.dispatchEvent(new Event("renewed"));
    const total = document.querySelector(".summary .total");
    if (total?.firstChild) total.firstChild.textContent = `${photos(timeline.total)}${total.childElementCount ? " · " : ""}`;
    if (next) focusOn(timeline, grid, next);
  });
  const selection = new Selection(root, timeline, grid), {actions} = selection;
  keys(root, timeline, grid, selection);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector(".pswp, dialog[open]")) return;
    if (event.target.closest?.("input:not([type=checkbox]), textarea, select")) return;
    if (event.key === "?") help();
    else if (JUMPS[event.key]) scrubber.go(JUMPS[event.key]);
  });
  watchMoving(root, grid);
  viewing(root, timeline, grid, actions);
  return () => timeline.dispatchEvent(new Event("moved"));
}

// The viewer is loaded with the first photo that is opened; Back closes it, Forward opens it again.
function viewing(root, timeline, grid, actions) {
  let viewer = null;
  const load = async () => {
    if (viewer) return viewer;
    const styles = ["../vendor/photoswipe/photoswipe.css", "viewer.css"].map((name) => new Promise((resolve) => {
      const link = document.createElement("link");
      Object.assign(link, {rel: "stylesheet", href: new URL(name, import.meta.url), onload: resolve, onerror: resolve});
      document.head.append(link);
    }));
    const [{Viewer}] = await Promise.all([import("./viewer.js"), ...styles]);
    viewer ??= new Viewer(timeline, grid, actions);
    return viewer;
  };
  root.addEventListener("click", async (event) => {
    const tile = grid.tileOf(event.target);
    if (!tile || !event.target.closest("a") || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.defaultPrevented) return;
    event.preventDefault();
    const {href} = tile.link, {month, index} = tile;
    const before = grid.place();
    history.replaceState({...history.state, grid: [timeline.months[before.month][0], before.offset]}, "");
    try { await (await load()).show(month, index); } catch { if (href) location.href = href; }
  });
  root.addEventListener("pointerover", load, {once: true});
  addEventListener("popstate", (event) => {
    if (event.state?.viewer) location.reload();
    else if (viewer?.isOpen) viewer.close();
  });
}

// The tile of a photo near the screen, once it is there.
function focusOn(timeline, grid, uid) {
  const look = () => {
    const tile = [...grid.tiles].find(({photo}) => photo?.uid === uid);
    if (!tile) return;
    timeline.removeEventListener("photos", later);
    grid.focus(tile.month, tile.index);
  };
  const later = () => requestAnimationFrame(() => requestAnimationFrame(look));
  timeline.addEventListener("photos", later);
  setTimeout(() => timeline.removeEventListener("photos", later), 5000);
  later();
}

// One Tab stop for the whole grid; arrows lead from tile to tile.
function keys(root, timeline, grid, selection) {
  const arrows = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"]);
  let moving = Promise.resolve();
  const move = async (key, far, extends_) => {
    const last = timeline.months.length - 1;
    const to = far ? (key === "Home" ? [0, 0] : [last, timeline.months[last][1] - 1]) : grid.held && await grid.beside(grid.held, key);
    if (!to) return;
    const from = grid.held && grid.tile(...grid.held);
    if (extends_ && from) selection.begin(from);
    await grid.focus(...to);
    const tile = grid.tile(...to);
    if (extends_ && tile) await selection.extend(tile);
  };
  root.addEventListener("keydown", (event) => {
    const tile = grid.tileOf(event.target);
    if (!tile || !arrows.has(event.key) || event.altKey || event.metaKey) return;
    event.preventDefault();
    const far = event.ctrlKey && (event.key === "Home" || event.key === "End");
    // One step after the other, also while months are loaded between them.
    moving = moving.then(() => move(event.key, far, event.shiftKey)).catch(() => {});
  });
  root.addEventListener("focusin", (event) => {
    const tile = grid.tileOf(event.target);
    if (tile && event.target === tile.link) grid.focus(tile.month, tile.index, {show: false, take: false});
  });
  grid.addEventListener("rest", () => {
    if (root.contains(document.activeElement)) return;
    const first = [...grid.tiles].filter((tile) => tile.item.getBoundingClientRect().top >= 60)
      .sort((a, b) => a.month - b.month || a.index - b.index)[0];
    if (first) grid.focus(first.month, first.index, {show: false, take: false});
  });
}

const root = document.querySelector("#grid");
let renew = () => location.reload();
if (site.api) uploading(() => renew());
if (root && site.api && ["newest", "oldest"].includes(site.order)) {
  start(root).then((again) => { renew = again || renew; }, (error) => console.warn(`photos: ${error.message}`));
}
