// The photos of a search as a grid of any length. The first ones are in the page, and shown before the rest is known.

import {Window} from "./window.js";

async function start(root, first) {
  root.classList.add("live");
  // By time the grid has months, in other orders positions.
  const List = first.months ? (await import("./timeline.js")).Timeline : (await import("./sequence.js")).Sequence;
  const timeline = new List(), [name, above] = timeline.placeIn(location.hash);
  if (!name) timeline.begin(first);
  history.scrollRestoration = "manual";
  let grid = timeline.months.length ? new Window(root, timeline) : null;
  // Visitors have no bar above their photos.
  const bar = document.querySelector(".search");
  const measure = () => {
    const height = bar?.offsetHeight ?? 0;
    if (grid) grid.top = height;
    document.documentElement.style.setProperty("--head", `${height}px`);
  };
  measure();
  if (bar) new ResizeObserver(measure).observe(bar);
  grid?.goTo(0, 0);
  grid?.focus(0, 0, {show: false, take: false});
  const names = timeline.months.map(([month]) => month);
  const [{attach}] = await Promise.all([import("./tools.js"), timeline.complete(name)]);
  if (!timeline.total) {
    location.reload();
    return;
  }
  if (grid) {
    // The same photos, now at their places among all.
    const {month, offset} = grid.place(), at = month || offset ? Math.max(0, timeline.find(names[month])) : 0;
    grid.reset({month: at, offset});
  } else {
    grid = new Window(root, timeline);
    measure();
    grid.show(timeline.spot(name, above));
  }
  attach(root, timeline, grid);
  (await library)?.follow(timeline);
}

const root = document.querySelector("#grid"), library = root?.dataset.visitor ? null : import("./library.js");
if (root) {
  start(root, JSON.parse(root.dataset.first)).catch((error) => {
    console.warn(`photos: ${error.message}`);
    root.classList.remove("live");
    root.classList.add("failed");
    root.replaceChildren();
  });
}
