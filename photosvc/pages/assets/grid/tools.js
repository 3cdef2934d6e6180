// The parts of the grid that are loaded after its photos.

import {tileKeys, pageKeys} from "./keys.js";
import {Scrubber} from "./scrubber.js";
import {Selection} from "./selection.js";
import {may, site} from "./api.js";
import {make} from "./elements.js";
import {isMoving} from "./tile.js";
import {viewing} from "./viewing.js";
import {photos, t} from "./words.js";

export function attach(root, timeline, grid) {
  const scrubber = new Scrubber(root, timeline, grid);
  grid.addEventListener("rest", ({detail: {month, offset}}) => {
    if (history.state?.viewer !== undefined) return;
    const top = month === 0 && offset < 1;
    const hash = top ? "" : `#${timeline.months[month][0]}.${Math.round(offset)}`;
    if (location.hash !== hash) history.replaceState(history.state, "", location.pathname + location.search + hash);
  });
  addEventListener("hashchange", () => {
    const [name, above] = timeline.placeIn(location.hash);
    if (!name) return;
    const spot = timeline.spot(name, above);
    timeline.want(spot.month).then(() => grid.show(spot));
  });
  const selection = new Selection(root, timeline, grid), {actions} = selection;
  const emptying = document.querySelector("[data-empty]");
  if (emptying) {
    emptying.hidden = false;
    emptying.addEventListener("click", () => selection.all().then(() => selection.run("purge")));
  }
  if (may("arrange") && !/^-|random/.test(site.order)) {
    let loading = null;
    const load = () => {
      loading ??= import("./arranging.js").then((part) => part.arranging(root, timeline, grid, selection));
    };
    for (const name of ["pointerover", "focusin"]) root.addEventListener(name, load, {once: true});
  }
  following(root, timeline, grid, scrubber, actions);
  tileKeys(root, timeline, grid, selection);
  pageKeys(scrubber);
  // Loaded with the first video that has the pointer or the focus.
  let moving = null;
  const play = (event) => {
    const tile = grid.tileOf(event.target);
    if (tile && isMoving(tile)) {
      moving ??= import("./moving.js")
        .then(({watchMoving}) => watchMoving(root, grid, event), () => { moving = null; });
    }
  };
  for (const name of ["pointerover", "focusin"]) root.addEventListener(name, play);
  viewing(root, timeline, grid, actions);
  // A page from the browser's back/forward cache may show photos that are gone or no longer allowed.
  addEventListener("pageshow", ({persisted}) => { if (persisted) timeline.changing(async () => {}); });
}

// Shows the same place of a changed library. `next` is the photo that gets the focus, `kept` the photo of the viewer.
function following(root, timeline, grid, scrubber, actions) {
  const empty = document.querySelector(".nothing")
    ?? make("div", {className: "empty", hidden: true}, make("p", {textContent: t("noneLeft")}));
  if (!empty.isConnected) root.after(empty);
  const name = ({month}) => timeline.months[month]?.[0];
  // Keys may move the window while the new library is read.
  let place, anchor, month;
  timeline.addEventListener("leave", () => {
    place = grid.place();
    anchor = grid.anchor();
    month = name(place);
  });
  const follow = async ({next, kept}) => {
    const here = grid.place(),
      first = Math.min(...[...grid.tiles].filter((tile) => tile.month === here.month).map((tile) => tile.index));
    await timeline.renew(name(here), Number.isFinite(first) ? first : 0);
    const seen = anchor ? await timeline.locate(anchor.uid, [anchor.name]) : -1, now = grid.place();
    if (now.month !== place.month || now.offset !== place.offset) grid.reset(now);
    else if (seen >= 0) grid.reset({...timeline.at(seen), below: anchor.below});
    else grid.reset(timeline.spot(month, place.offset));
    scrubber.draw();
    empty.hidden = timeline.total > 0;
    grid.dispatchEvent(new CustomEvent("renewed", {detail: kept}));
    document.querySelector(".total span")?.replaceChildren(photos(timeline.total));
    if (next) focusOn(timeline, grid, next);
  };
  // Moves during a move are one more move after it.
  let running = false, waiting = null;
  timeline.addEventListener("moved", async ({detail}) => {
    waiting = {...waiting, ...detail};
    if (running) return;
    running = true;
    try {
      while (waiting) {
        const wanted = waiting;
        waiting = null;
        await follow(wanted);
      }
    } catch (error) {
      actions.say(error.message);
    } finally {
      running = false;
      waiting = null;
    }
  });
}

// Focuses the tile of a photo once it is loaded.
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
