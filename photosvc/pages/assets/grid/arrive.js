// Opens the viewer for the address of a photo; loaded if the page of a photo led to the grid.

import {SEQUENCE, photoPage} from "./api.js";

// The photo in the address of a grid and its kind: `viewer` if the entry before this one is the grid.
const ledTo = (hash) => (/^#(photo|viewer)=(p\w+)$/.exec(hash) || []).slice(1);

// The position of a photo among those of the search.
export async function positionOf(uid, timeline) {
  const {from} = await timeline.read(SEQUENCE, {locate: uid, n: 1}), {month, index} = timeline.at(from);
  await timeline.need(month, index, index + 1);
  if (timeline.photo(month, index)?.uid === uid) return from;
  // The sequence is by universal time, months by local days; photos without a date come last.
  const at = await timeline.locate(uid,
    [month, month - 1, month + 1].map((near) => timeline.months[near]?.[0]).concat("0000-00"));
  if (at < 0) throw new Error("the photo is not there");
  return at;
}

// Opens the viewer by `load`; `line` shows its errors.
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
