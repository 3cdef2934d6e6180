// From the grid to the viewer and back.

import {messageOf} from "./api.js";

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
  root.addEventListener("click", async (event) => {
    const tile = grid.tileOf(event.target);
    if (!tile || !event.target.closest("a") || event.button || event.ctrlKey || event.metaKey || event.shiftKey
      || event.defaultPrevented) return;
    event.preventDefault();
    const {month, index} = tile;
    try {
      await (await load()).show(month, index);
    } catch (error) {
      actions.say(messageOf(error));
    }
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
