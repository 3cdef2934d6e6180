// The layouts of months near the window, each computed once.

import {guessHeight, layOut} from "./rows.js";

const KEPT = 24, NARROWEST = 80;

export class Layouts {
  size = null;
  #timeline; #root;
  #known = new Map();

  constructor(root, timeline) {
    this.#root = root;
    this.#timeline = timeline;
    this.measure();
  }

  // Returns whether the grid has another width. A hidden grid keeps its width.
  measure() {
    const width = this.#root.clientWidth;
    if (this.size && (!width || width === this.size.width)) return false;
    const style = getComputedStyle(this.#root), phone = innerWidth < 700, {headed} = this.#timeline;
    const gap = parseFloat(style.getPropertyValue("--gap")) || 4;
    this.size = {
      width: Math.max(width, NARROWEST), row: parseFloat(style.getPropertyValue("--row")) || 220, gap,
      between: phone ? 12 : 24, head: !headed ? 0 : phone ? 46 : 38, after: !headed ? gap : phone ? 14 : 20,
    };
    this.#known.clear();
    return true;
  }

  clear() { this.#known.clear(); }

  // The layout of a month; null until its columns are loaded.
  of(month) {
    const columns = this.#timeline.columns(month);
    if (!columns) return null;
    const known = this.#known.get(month);
    this.#known.delete(month);
    const laid = known?.columns === columns ? known : Object.assign(layOut(columns, this.size), {columns});
    this.#known.set(month, laid);
    if (this.#known.size > KEPT) this.#known.delete(this.#known.keys().next().value);
    return laid;
  }

  height(month) { return this.of(month)?.height ?? guessHeight(this.#timeline.months[month][1], this.size); }
}

// The number of the day of a photo.
export const dayOf = (laid, index) => laid.days.findIndex((box) => index >= box.first && index < box.last);
