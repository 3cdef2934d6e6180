// The selected photos and their bar: by mouse, with Shift, by keyboard, by touch, or all of the search.

import {ACTIONS, Actions} from "./actions.js";
import {may, site} from "./api.js";
import {button, icon, make} from "./elements.js";
import {actionOf, isShortcut, isTyping} from "./keys.js";
import {number, t} from "./words.js";

const MOST = Number(site.mostphotos);  // photos that one action takes
const TRIES = 3;     // to select all of a changing library
const HOLD = 450;  // milliseconds of a touch that begins a selection

export class Selection {
  #root; #timeline; #grid;
  #chosen = new Map();
  #anchor = null;
  #actions; #bar;
  #touch = 0;

  constructor(root, timeline, grid) {
    this.#root = root;
    this.#timeline = timeline;
    this.#grid = grid;
    this.#actions = new Actions(timeline, grid, () => this.clear());
    this.#bar = new Bar((action) => this.run(action), () => this.all());
    grid.decorate = (tile, photo) => {
      const chosen = this.#chosen.has(photo.uid);
      tile.item.classList.toggle("picked", chosen);
      tile.box.checked = chosen;
    };
    root.addEventListener("click", (event) => this.#click(event), true);
    root.addEventListener("pointerdown", (event) => this.#press(event));
    root.addEventListener("contextmenu", (event) => { if (this.#touch === -1) event.preventDefault(); });
    for (const name of ["pointerup", "pointercancel", "pointermove"])
      root.addEventListener(name, (event) => this.#release(event, name));
    document.addEventListener("keydown", (event) => this.#key(event));
    // Positions have changed.
    grid.addEventListener("renewed", () => {
      this.#anchor = null;
      this.#changed();
    });
    timeline.addEventListener("changed", ({detail: {uids, values}}) => {
      for (const [uid, photo] of this.#chosen) if (uids.has(uid)) Object.assign(photo, values);
      this.#changed();
    });
    this.#changed();
  }

  get actions() { return this.#actions; }
  get chosen() { return [...this.#chosen.values()]; }
  clear() {
    this.#chosen.clear();
    this.#anchor = null;
    this.#changed();
  }

  // The photo with the focus, which keys change when nothing is selected.
  get focused() {
    const tile = this.#grid.tileOf(document.activeElement);
    return tile?.photo && this.#root.contains(document.activeElement) ? tile.photo : null;
  }

  #position(tile) { return this.#timeline.begins[tile.month] + tile.index; }

  toggle(tile) {
    const {photo} = tile;
    if (!photo) return;
    if (this.#chosen.has(photo.uid)) this.#chosen.delete(photo.uid);
    else this.#chosen.set(photo.uid, photo);
    this.#anchor = this.#position(tile);
    this.#changed();
  }

  async extend(tile) {
    const to = this.#position(tile), from = this.#anchor ?? to;
    try {
      const found = await this.#timeline.range(Math.min(from, to), Math.max(from, to), MOST);
      for (const photo of found) this.#chosen.set(photo.uid, photo);
    } catch (error) { this.#actions.say(error.message); }
    this.#changed();
  }

  // The start of the range that keys extend.
  begin(tile) { this.#anchor ??= this.#position(tile); }

  async all() {
    this.#bar.working(t("selecting"));
    try {
      const found = await this.#whole();
      this.#chosen = new Map(found.map((photo) => [photo.uid, photo]));
    } catch (error) { this.#actions.say(error.message); }
    this.#changed();
  }

  async #whole() {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#timeline.range(0, this.#timeline.total - 1, MOST);
      } catch (error) {
        if (error.status !== 409 || tries === TRIES) throw error;
        await new Promise((resolve) => this.#grid.addEventListener("renewed", resolve, {once: true}));
      }
    }
  }

  run(action) {
    if (action === "clear") this.clear();
    else this.#actions.run(action, this.#chosen.size ? [...this.#chosen.values()] : [this.focused].filter(Boolean));
  }

  #changed() {
    this.#root.classList.toggle("picking", this.#chosen.size > 0);
    this.#grid.refresh();
    this.#bar.show([...this.#chosen.values()], this.#timeline.total, MOST);
  }

  #click(event) {
    const tile = this.#grid.tileOf(event.target);
    if (!tile || !this.#root.contains(tile.item) || event.button) return;
    const act = event.target.closest(".act");
    if (act && tile.photo) {
      event.stopPropagation();
      this.#actions.run(act.classList.contains("purge") ? "purge" : "restore", [tile.photo]);
      return;
    }
    const box = event.target.closest(".pick"), began = this.#touch === -1;
    this.#touch = 0;
    if (event.ctrlKey || event.metaKey) {
      if (!box) return;  // the link opens in another tab
    } else if (!box && !this.#chosen.size && !began) return;
    // The box is checked already, which preventing would undo; a click on its label would check it again.
    if (event.target !== tile.box || began) event.preventDefault();
    event.stopPropagation();
    if (began) return;
    if (event.shiftKey && this.#anchor !== null) this.extend(tile);
    else this.toggle(tile);
  }

  #press(event) {
    if (event.pointerType === "mouse") return;
    const tile = this.#grid.tileOf(event.target);
    clearTimeout(this.#touch);
    this.#touch = tile && setTimeout(() => {
      this.#touch = -1;
      if (!this.#chosen.has(tile.photo?.uid)) this.toggle(tile);
      navigator.vibrate?.(10);
    }, HOLD);
  }

  #release(event, name) {
    if (this.#touch > 0 && (name !== "pointermove" || Math.hypot(event.movementX, event.movementY) > 4)) {
      clearTimeout(this.#touch);
      this.#touch = 0;
    }
  }

  #key(event) {
    if (document.querySelector(".pswp") || isTyping(event)) return;
    const act = this.#actOf(event);
    if (!act) return;
    event.preventDefault();
    act();
  }

  // The function that a key calls; undefined for keys that mean nothing here.
  #actOf(event) {
    const {key} = event;
    if ((event.ctrlKey || event.metaKey) && key === "a") return () => this.all();
    if ((event.ctrlKey || event.metaKey) && key === "z") return () => this.#actions.undo();
    if (event.ctrlKey || event.metaKey || event.altKey || !isShortcut(event)) return undefined;
    if (key === "Escape" && this.#chosen.size) return () => this.clear();
    const tile = this.#grid.tileOf(document.activeElement), action = actionOf(key);
    if (key === "x" && tile) return () => this.toggle(tile);
    if (key === "X" && tile) return () => this.extend(tile);
    return action && (this.#chosen.size || this.focused) ? () => this.run(action) : undefined;
  }
}

// The floating bar of the selected photos.
class Bar {
  #element; #count; #all;
  #buttons = {};

  // `run` gets the action of a button; `all` selects all photos of the search.
  constructor(run, all) {
    const add = (action, label, picture) =>
      this.#buttons[action] = button({className: "plain", title: label, ariaLabel: label}, () => run(action),
        icon(picture));
    const allowed = Object.entries(ACTIONS).filter(([, {right, isHidden}]) => may(right) && !isHidden);
    this.#count = make("span", {className: "count", role: "status"});
    this.#all = button({className: "plain all"}, all);
    this.#element = make("div", {className: "actions", hidden: true, role: "toolbar", ariaLabel: t("selection")},
      add("clear", t("clear"), "close"), this.#count, this.#all,
      ...allowed.map(([action, {label, picture}]) => add(action, label, picture)));
    document.querySelector("main").append(this.#element);
  }

  // Shows the number of selected photos, in a search with `total`; an action takes at most `most`.
  show(photos, total, most) {
    const size = photos.length, every = (mark) => size > 0 && photos.every((photo) => photo[mark]);
    this.#element.hidden = size === 0;
    this.#count.replaceChildren(number(size), make("span", {textContent: ` ${t("selected", {num: size})}`}));
    this.#all.hidden = size >= Math.min(total, most);
    this.#all.textContent = t(total > most ? "first" : "all", {most, total});
    for (const mark of ["favorite", "private"]) this.#buttons[mark]?.setAttribute("aria-pressed", every(mark));
    if (this.#buttons.cover) this.#buttons.cover.hidden = size !== 1;
    if (this.#buttons.takeout) this.#buttons.takeout.hidden = !every("own");
  }

  working(text) {
    this.#element.hidden = false;
    this.#count.textContent = text;
  }
}
