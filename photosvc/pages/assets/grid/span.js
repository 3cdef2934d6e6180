// The months in the page, one below the other: the position and the element of each.

import {make} from "./icons.js";

export class Span {
  first = 0; tops = []; heights = [];
  #box; #sections = new Map();

  constructor(box) { this.#box = box; }

  get last() { return this.first + this.tops.length - 1; }
  get height() { return this.tops.length ? this.tops.at(-1) + this.heights.at(-1) : 0; }
  has(month) { return month >= this.first && month <= this.last; }
  top(month) { return this.tops[month - this.first]; }
  section(month) { return this.#sections.get(month); }

  // Puts the months from `first` to `last` into the page; `drop` gets the months that leave it.
  set(first, last, heightOf, drop) {
    this.first = first;
    this.tops = []; this.heights = [];
    let top = 0;
    for (let month = first; month <= last; month++) {
      this.tops.push(top); this.heights.push(heightOf(month));
      top += this.heights.at(-1);
    }
    this.#box.style.height = `${Math.max(top, 1)}px`;
    for (const [month, section] of this.#sections) {
      if (!this.has(month)) { drop(month); section.remove(); this.#sections.delete(month); }
    }
    for (let month = first; month <= last; month++) {
      let section = this.#sections.get(month);
      if (!section) {
        section = make("section", {className: "month"});
        this.#sections.set(month, section);
        this.#box.append(section);
      }
      section.style.top = `${this.top(month)}px`;
      section.style.height = `${this.heights[month - first]}px`;
    }
  }

  clear(drop) {
    for (const [month, section] of this.#sections) { drop(month); section.remove(); }
    this.#sections.clear();
    this.#box.style.height = "0";
    this.first = 0; this.tops = []; this.heights = [];
  }

  // The month at this height, the pixels of it that are above, and its height.
  at(height) {
    const at = Math.max(0, height);
    let number = 0;
    // Pages scroll to whole pixels.
    while (number + 1 < this.tops.length && this.tops[number + 1] < at + 1) number++;
    return {month: this.first + number, offset: Math.max(0, at - (this.tops[number] ?? 0)), height: this.heights[number] || 1};
  }
}
