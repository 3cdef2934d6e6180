// From the grid to the viewer and back.

import {messageOf} from "./api.js";
import {isShortcut} from "./keys.js";

// The viewer is loaded with the first photo that is opened; Back closes it, Forward opens it again.
export function viewing(root, timeline, grid, actions) {
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
  const open = async (month, index) => {
    try {
      await (await load()).show(month, index);
    } catch (error) {
      actions.say(messageOf(error));
    }
  };
  root.addEventListener("click", (event) => {
    const tile = grid.tileOf(event.target);
    if (!tile || !event.target.closest("a") || event.button || event.ctrlKey || event.metaKey || event.shiftKey
      || event.defaultPrevented) return;
    event.preventDefault();
    open(tile.month, tile.index);
  });
  // A slideshow begins with the photo that has the focus, else with the first one.
  const play = async ([month, index]) => {
    if (!timeline.total || viewer?.isOpen) return;
    await open(month, index);
    viewer?.play();
  };
  for (const start of document.querySelectorAll("[data-slideshow]")) {
    start.hidden = false;
    start.addEventListener("click", () => play([0, 0]));
  }
  document.addEventListener("keydown", (event) => {
    if (event.key !== "S" || event.ctrlKey || event.metaKey || event.altKey || !isShortcut(event)) return;
    play(root.contains(document.activeElement) && grid.held ? grid.held : [0, 0]);
  });
  root.addEventListener("pointerover", () => load().catch(() => {}), {once: true});
  addEventListener("popstate", async ({state}) => {
    if (state?.viewer === undefined) {
      if (viewer?.isOpen) viewer.close();
      return;
    }
    // The photo at the number of the entry, unless the library changed since.
    const {month, index} = timeline.at(state.viewer);
    try {
      await timeline.need(month, index, index + 1);
      const {uid} = timeline.photo(month, index);
      if (!location.pathname.endsWith(`/${uid}`)) throw new Error("another photo is at this place now");
      await (await load()).show(month, index, {entry: false});
    } catch { location.reload(); }
  });
  const led = location.hash;
  if (/^#[pv]\w+=/.test(led)) import("./arrive.js").then(({arrive}) => arrive(led, timeline, load, actions.line));
}
