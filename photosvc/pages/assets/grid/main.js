// The photos of a search as a grid of any length. The page came with the first of them, which are shown before the rest
// is known.

import {Window} from "./window.js";

// The keys of the grid, alone and with Ctrl; the keys of tiles apply only when a tile has the focus.
const KEYS = /^([xXfpaAdDlemMyY?]|Delete|Escape)$/, WITH_CTRL = /^[az]$/, OF_TILES = /^(Arrow(Left|Right|Up|Down)|Home|End|Page(Up|Down))$/;

// Keys that are pressed before the grid takes them; gives what passes them on.
function keepKeys(root) {
  const kept = [];
  const keep = (event) => {
    if (event.altKey || event.target.closest?.("input:not([type=checkbox]), textarea, select, dialog")) return;
    const command = event.ctrlKey || event.metaKey, inside = root.contains(event.target), ofTile = OF_TILES.test(event.key) && inside;
    if (event.target !== document.body && !inside) return;
    if (!ofTile && !(command ? WITH_CTRL : KEYS).test(event.key)) return;
    event.preventDefault();
    kept.push(event);
  };
  document.addEventListener("keydown", keep);
  return async (use) => {
    document.removeEventListener("keydown", keep);
    for (const {key, shiftKey, ctrlKey, metaKey} of use ? kept : []) {
      (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", {key, shiftKey, ctrlKey, metaKey, bubbles: true, cancelable: true}));
      await new Promise(requestAnimationFrame);  // the focus moves before the next one
    }
  };
}

async function start(root, first) {
  root.classList.add("live");
  // By time the grid has months, in other orders positions.
  const List = first.months ? (await import("./timeline.js")).Timeline : (await import("./sequence.js")).Sequence;
  const timeline = new List(), [name, above] = timeline.placeIn(location.hash);
  if (!name) timeline.begin(first);
  history.scrollRestoration = "manual";
  let grid = timeline.months.length ? new Window(root, timeline) : null;
  const bar = document.querySelector(".search");
  const measure = new ResizeObserver(() => {
    const height = bar.offsetHeight;
    if (grid) grid.top = height;
    document.documentElement.style.setProperty("--head", `${height}px`);
  });
  measure.observe(bar);
  grid?.goTo(0, 0);
  grid?.focus(0, 0, {show: false, take: false});
  const names = timeline.months.map(([month]) => month);
  const [{attach}] = await Promise.all([import("./tools.js"), timeline.complete(name)]);
  if (!timeline.total) { location.reload(); return; }
  if (grid) {
    // The same photos, which have their places among all of them now.
    const {month, offset} = grid.place(), at = month || offset ? Math.max(0, timeline.find(names[month])) : 0;
    grid.reset({month: at, offset});
  } else {
    grid = new Window(root, timeline);
    grid.top = bar.offsetHeight;
    grid.show(timeline.spot(name, above));
  }
  attach(root, timeline, grid);
}

const root = document.querySelector("#grid");
if (root) {
  const passKeys = keepKeys(root);
  start(root, JSON.parse(root.dataset.first)).then(() => passKeys(true), (error) => {
    passKeys(false);
    console.warn(`photos: ${error.message}`);
    root.classList.remove("live");
    root.classList.add("failed");
    root.replaceChildren();
  });
} else import("./tools.js");
