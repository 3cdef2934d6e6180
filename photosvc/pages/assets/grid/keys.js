// The keys of the grid.

import {may} from "./api.js";

// Returns whether a key is typed into a field or belongs to a dialog.
export const isTyping = (event) =>
  Boolean(document.querySelector("dialog[open]")
  || event.target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select"));

// Letters are keys where photos or nothing have the focus, unless the user turned that off.
const PHOTOS = "#grid, .scrubber, .actions, .pswp", OFF = "photosvc-keys";
export const lettersCount = () => localStorage.getItem(OFF) !== "off";
export const countLetters = (on) => (on ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, "off"));

// Returns whether a key may be a shortcut. On a photo `?` always is: it opens the list where letters are turned on.
export function isShortcut(event) {
  if (isTyping(event)) return false;
  const {key, target} = event, inside = Boolean(target.closest?.(PHOTOS));
  if (!inside && target !== document.body && target.id !== "content") return false;
  return key.length > 1 || key === " " || lettersCount() || (key === "?" && inside);
}

// The action that a key means, in the grid and in the viewer.
const ACTIONS = {f: "favorite", p: "private", a: "archive", A: "archive", d: "download", D: "download", l: "album",
  e: "edit", s: "share", r: "restore", c: "cover", t: "top"};
export const actionOf = (key) => (key === "Delete" ? ["remove", "purge"].find(may) ?? "delete" : ACTIONS[key]);

// Keys to the next and the previous month and year.
const JUMPS = {m: "ArrowDown", M: "ArrowUp", y: "PageDown", Y: "PageUp"};

// One Tab stop for the whole grid; arrows lead from tile to tile.
export function tileKeys(root, timeline, grid, selection) {
  const arrows = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"]);
  let moving = Promise.resolve();
  const move = async (key, far, extends_) => {
    const last = timeline.months.length - 1;
    const to = far ? (key === "Home" ? [0, 0] : [last, timeline.months[last][1] - 1]) : grid.held
      && await grid.beside(grid.held, key);
    if (!to) return;
    const from = grid.held && grid.tile(...grid.held);
    if (extends_ && from) selection.begin(from);
    await grid.focus(...to);
    const tile = grid.tile(...to);
    if (extends_ && tile) await selection.extend(tile);
  };
  root.addEventListener("keydown", (event) => {
    const tile = grid.tileOf(event.target);
    if (!tile || !arrows.has(event.key) || event.altKey || event.metaKey) return;
    event.preventDefault();
    const far = event.ctrlKey && (event.key === "Home" || event.key === "End");
    // Steps wait for each other, as each may load a month.
    moving = moving.then(() => move(event.key, far, event.shiftKey)).catch(() => {});
  });
  root.addEventListener("focusin", (event) => {
    const tile = grid.tileOf(event.target);
    if (tile && event.target === tile.link) grid.focus(tile.month, tile.index, {show: false, take: false});
  });
  grid.addEventListener("rest", () => {
    if (root.contains(document.activeElement)) return;
    const first = [...grid.tiles].filter((tile) => tile.item.getBoundingClientRect().top >= 60)
      .sort((a, b) => a.month - b.month || a.index - b.index)[0];
    if (first) grid.focus(first.month, first.index, {show: false, take: false});
  });
}

// Keys anywhere on the page.
export function pageKeys(scrubber) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !isShortcut(event) || document.querySelector(".pswp")) return;
    if (event.key === "?") import("./help.js").then(({help}) => help(), () => {});
    else if (JUMPS[event.key]) scrubber.go(JUMPS[event.key]);
  });
}
