// All that the grid can do besides showing photos. Loaded behind them.

import {tileKeys, pageKeys} from "./keys.js";
import {watchMoving} from "./moving.js";
import {Scrubber} from "./scrubber.js";
import {Selection} from "./selection.js";
import "./suggest.js";
import {uploading} from "./upload.js";
import {viewing} from "./viewing.js";
import {photos} from "./words.js";

let renew = () => location.reload();
uploading(() => renew());

export function attach(root, timeline, grid) {
  const scrubber = new Scrubber(root, timeline, grid);
  grid.addEventListener("rest", ({detail: {month, offset}}) => {
    if (history.state?.viewer) return;
    const top = month === 0 && offset < 1;
    const hash = top ? "" : `#${timeline.months[month][0]}.${Math.round(offset)}`;
    if (location.hash !== hash) history.replaceState(history.state, "", location.pathname + location.search + hash);
  });
  following(timeline, grid, scrubber);
  const selection = new Selection(root, timeline, grid), {actions} = selection;
  tileKeys(root, timeline, grid, selection);
  pageKeys(scrubber);
  watchMoving(root, grid);
  viewing(root, timeline, grid, actions);
  renew = () => timeline.dispatchEvent(new Event("moved"));
}

// The library changed: the same place of the new one.
function following(timeline, grid, scrubber) {
  let reloading = false;
  timeline.addEventListener("moved", async ({detail: next}) => {
    if (reloading) return;
    reloading = true;
    const place = grid.place(), month = timeline.months[place.month]?.[0];
    const first = Math.min(...[...grid.tiles].filter((tile) => tile.month === place.month).map((tile) => tile.index));
    try { await timeline.renew(month, Number.isFinite(first) ? first : 0); } finally { reloading = false; }
    const at = timeline.find(month);
    grid.reset({month: Math.max(0, at), offset: at < 0 ? 0 : place.offset});
    scrubber.draw();
    grid.dispatchEvent(new Event("renewed"));
    const total = document.querySelector(".summary .total");
    if (total?.firstChild) total.firstChild.textContent = `${photos(timeline.total)}${total.childElementCount ? " · " : ""}`;
    if (next) focusOn(timeline, grid, next);
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
