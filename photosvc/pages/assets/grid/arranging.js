// The order of an album, in its grid: photos are dragged to a place, or taken up, moved and dropped by keys.

import {call, site} from "./api.js";
import {make} from "./elements.js";
import {t} from "./words.js";

const ARROWS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"]);

/**
 * Moves photos to a place, from the order that is shown, which the album keeps. Returns what to say, and how to undo
 * it.
 * @param {{before?: string | null, last?: boolean}} place
 */
export async function arrange(timeline, uids, place) {
  const path = `/albums/${site.album}`, photos = inOrder(timeline, uids), {order} = site;
  const put = (body) => timeline.changing(() => call(`${path}/photos`, {method: "PUT", body}));
  const back = order === "manual" ? await placeOf(timeline, photos) : null;
  await put({photos, ...place, order});
  const told = t("moved", {num: photos.length});
  if (order === "manual") {
    timeline.moved({next: photos[0]});
    return [told, back && (async () => {
      await put({photos, ...back, order});
      timeline.moved({next: photos[0]});
    })];
  }
  // The album has another order now, in which the page has to be read again.
  site.order = "manual";
  location.assign(site.albumpage.replace("UID", site.album));
  return [told];
}

// The photos in the order of the grid, as far as it knows them.
function inOrder(timeline, uids) {
  const wanted = new Set(uids), found = [];
  for (const [name] of timeline.months) {
    for (const photo of timeline.photos.get(name) ?? []) if (photo && wanted.delete(photo.uid)) found.push(photo.uid);
  }
  return [...found, ...wanted];
}

// The first photo from a position on that is not among the moved ones, as a place.
async function placeAt(timeline, position, moved) {
  for (let at = position; at < timeline.total; at++) {
    const {month, index} = timeline.at(at);
    await timeline.want(month);
    await timeline.need(month, index, index + 1);
    const {uid} = timeline.photo(month, index) ?? {};
    if (!uid) return null;
    if (!moved.has(uid)) return {before: uid};
  }
  return {last: true};
}

// The place of photos that follow each other; null for others.
async function placeOf(timeline, uids) {
  const first = await timeline.locate(uids[0]);
  if (first < 0) return null;
  for (const [at, uid] of uids.entries()) {
    const {month, index} = timeline.at(Math.min(first + at, timeline.total - 1));
    if (timeline.photo(month, index)?.uid !== uid) return null;
  }
  return placeAt(timeline, first + uids.length, new Set(uids));
}

export function arranging(root, timeline, grid, selection) {
  const told = make("div", {className: "unseen"});
  told.setAttribute("role", "status");
  root.after(told);
  let moved = null, from = -1, target = null;
  const position = (tile) => timeline.begins[tile.month] + tile.index;
  const mark = (tile, after) => {
    for (const old of root.querySelectorAll(".drop-before, .drop-after"))
      old.classList.remove("drop-before", "drop-after");
    target = tile && {at: position(tile) + (after ? 1 : 0)};
    tile?.item.classList.add(after ? "drop-after" : "drop-before");
  };
  const begin = (tile) => {
    const {chosen} = selection, isChosen = chosen.some(({uid}) => uid === tile.photo.uid);
    moved = new Set(isChosen ? chosen.map(({uid}) => uid) : [tile.photo.uid]);
    from = position(tile);
    root.classList.add("arranging");
  };
  const end = () => {
    moved = null;
    mark(null, false);
    root.classList.remove("arranging");
  };
  const drop = () => {
    const {actions} = selection, uids = moved, {at} = target ?? {at: -1};
    end();
    if (at < 0) return;
    actions.line.after(async () => {
      const place = await placeAt(timeline, at, uids);
      if (!place) throw new Error(t("libraryChanged"));
      actions.say(...await arrange(timeline, [...uids], place));
      selection.clear();
    });
  };
  root.addEventListener("dragstart", (event) => {
    const tile = grid.tileOf(event.target);
    if (!tile?.photo) return;
    begin(tile);
    event.dataTransfer.effectAllowed = "move";
  });
  root.addEventListener("dragover", (event) => {
    const tile = moved && grid.tileOf(event.target);
    if (!tile) return;
    event.preventDefault();
    const {left, width} = tile.item.getBoundingClientRect();
    mark(tile, event.clientX > left + width / 2);
  });
  root.addEventListener("drop", (event) => {
    if (!moved) return;
    event.preventDefault();
    drop();
  });
  root.addEventListener("dragend", end);
  root.addEventListener("keydown", (event) => {
    const tile = grid.tileOf(event.target), {key} = event;
    if (!tile?.photo || event.target !== tile.link || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = key === " " ? (moved ? drop : () => {
      begin(tile);
      told.textContent = t("taken");
    }) : key === "Enter" && moved ? drop : key === "Escape" && moved ? end : null;
    if (act) {
      event.preventDefault();
      event.stopPropagation();
      act();
    } else if (moved && !ARROWS.has(key)) end();
  }, true);
  root.addEventListener("focusin", (event) => {
    const tile = moved && grid.tileOf(event.target);
    if (!tile || !root.classList.contains("arranging")) return;
    const at = position(tile), after = at > from;
    mark(tile, after);
    const before = at + (after ? 2 : 1);
    told.textContent = before > timeline.total ? t("atEnd") : t("beforePhoto", {at: before, total: timeline.total});
  });
}
