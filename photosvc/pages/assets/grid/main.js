// The photos of a search as a grid of any length. The page came with the first of them, which are shown before the rest
// is known. Other orders than by time stay pages of links.

import {site} from "./api.js";
import {Timeline} from "./timeline.js";
import {Window} from "./window.js";

const HASH = /^#(\d{4}-\d\d)(?:\.(\d+))?$/;

async function start(root, first) {
  const [, name, above] = HASH.exec(location.hash) || [];
  const timeline = new Timeline(name || !first.months.length ? null : first);
  root.classList.add("live");
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
  const names = timeline.months.map(([month]) => month);
  const [{attach}] = await Promise.all([import("./tools.js"), timeline.renew(name)]);
  if (!timeline.total) { location.reload(); return; }
  if (grid) {
    // The same photos, which have their places among all of them now.
    const {month, offset} = grid.place(), at = month || offset ? Math.max(0, timeline.find(names[month])) : 0;
    grid.reset({month: at, offset});
  } else {
    grid = new Window(root, timeline);
    grid.top = bar.offsetHeight;
    const at = timeline.find(name);
    grid.goTo(Math.max(0, at), at < 0 ? 0 : Number(above) || 0);
  }
  attach(root, timeline, grid);
}

const root = document.querySelector("#grid");
if (root?.dataset.first && site.api) {
  start(root, JSON.parse(root.dataset.first)).catch((error) => {
    console.warn(`photos: ${error.message}`);
    root.classList.add("failed");
    root.dispatchEvent(new Event("failed"));
  });
} else if (site.api) import("./tools.js");
