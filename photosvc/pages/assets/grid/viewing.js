// From the grid to the viewer and back.

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
