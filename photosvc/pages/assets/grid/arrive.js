// From the page of a photo to the viewer over its grid; loaded where such a page led to the grid.

import {photoPage} from "./api.js";

// The photo to which the address of a grid leads, and how: `viewer` if the entry of the grid is before this one.
const ledTo = (hash) => (/^#(photo|viewer)=(p\w+)$/.exec(hash) || []).slice(1);

// The position of a photo among those of the search.
export async function positionOf(uid, timeline) {
  const {from} = await timeline.read("/photos/sequence", {locate: uid, n: 1}), {month, index} = timeline.at(from);
  await timeline.need(month, index, index + 1);
  if (timeline.photo(month, index)?.uid === uid) return from;
  // The sequence is by universal time; months are by local days, and photos without one are behind all.
  const at = await timeline.locate(uid,
    [month, month - 1, month + 1].map((near) => timeline.months[near]?.[0]).concat("0000-00"));
  if (at < 0) throw new Error("the photo is not there");
  return at;
}

// Opens the viewer, which `load` loads; `line` tells why it does not open.
export async function arrive(hash, timeline, load, line) {
  const [kind, uid] = ledTo(hash);
  if (!uid) return;
  history.replaceState(null, "", location.pathname + location.search);
  await line.after(async () => {
    const at = await positionOf(uid, timeline), {month, index} = timeline.at(at);
    await timeline.need(month, index, index + 1);
    const entry = kind === "photo";
    if (!entry) history.replaceState({viewer: at}, "", photoPage(uid));
    await (await load()).show(month, index, {entry});
  });
}
