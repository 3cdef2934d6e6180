// The months in the page, one below the other: their positions, elements, and days and photos near the screen.

import {make, place} from "./elements.js";
import {dayOf} from "./layouts.js";

export class Span {
  first = 0;
  tops = [];
  heights = [];
  #box;
  #sections = new Map();

  constructor(box) { this.#box = box; }

  get last() { return this.first + this.tops.length - 1; }
  get height() { return this.tops.length ? this.tops.at(-1) + this.heights.at(-1) : 0; }
  has(month) { return month >= this.first && month <= this.last; }
  top(month) { return this.tops[month - this.first]; }
  section(month) { return this.#sections.get(month); }

  // Puts the months from `first` to `last` into the page; `drop` gets the months that leave it.
  set(first, last, heightOf, drop) {
    this.first = first;
    this.tops = [];
    this.heights = [];
    let top = 0;
    for (let month = first; month <= last; month++) {
      this.tops.push(top);
      this.heights.push(heightOf(month));
      top += this.heights.at(-1);
    }
    this.#box.style.height = `${Math.max(top, 1)}px`;
    for (const [month, section] of this.#sections) {
      if (!this.has(month)) {
        section.remove();
        drop(month);
        this.#sections.delete(month);
      }
    }
    for (let month = first; month <= last; month++) {
      let section = this.#sections.get(month);
      if (!section) {
        section = make("section", {className: "month"});
        this.#sections.set(month, section);
        this.#box.append(section);
      }
      place(section, {top: this.top(month), height: this.heights[month - first]});
    }
  }

  clear(drop) {
    for (const [month, section] of this.#sections) {
      section.remove();
      drop(month);
    }
    this.#sections.clear();
    this.#box.style.height = "0";
    this.first = 0;
    this.tops = [];
    this.heights = [];
  }

  // The month at a height of the page, its pixels above, and its height.
  at(height) {
    const at = Math.max(0, height);
    let number = 0;
    // Pages scroll by whole pixels.
    while (number + 1 < this.tops.length && this.tops[number + 1] < at + 1) number++;
    return {month: this.first + number, offset: Math.max(0, at - (this.tops[number] ?? 0)),
      height: this.heights[number] || 1};
  }
}

// The days and photos between two heights, by keys: `wanted` photos as [month, index, day, layout], `days` as
// [month, box]; `shown` months have columns, `missing` months do not. The photo at `held` is always wanted.
export function near(span, layouts, upper, lower, held) {
  const wanted = new Map(), days = new Map(), shown = [], missing = [], {first, tops, heights} = span;
  for (let number = 0; number < tops.length; number++) {
    const top = tops[number], month = first + number;
    if (top > lower || top + heights[number] < upper) continue;
    const laid = layouts.of(month);
    if (!laid) {
      missing.push(month);
      continue;
    }
    shown.push(month);
    for (let day = firstBelow(laid.days, upper - top); day < laid.days.length; day++) {
      const box = laid.days[day];
      if (box.top + top > lower) break;
      if (box.top + box.height + top < upper) continue;
      days.set(`${month}:${day}`, [month, box]);
      for (let index = firstTile(laid, box, upper - top - box.top); index < box.last; index++) {
        if (laid.y[index] + box.top + top > lower) break;
        wanted.set(`${month}:${index}`, [month, index, day, laid]);
      }
    }
  }
  if (held) {
    const [month, index] = held, laid = span.has(month) && layouts.of(month), day = laid ? dayOf(laid, index) : -1;
    if (day >= 0) {
      wanted.set(`${month}:${index}`, [month, index, day, laid]);
      days.set(`${month}:${day}`, [month, laid.days[day]]);
    }
  }
  return {wanted, days, shown, missing};
}

// The first day that may reach below this height.
function firstBelow(days, top) {
  let low = 0, high = days.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (days[middle].top + days[middle].height < top) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 12);  // days of one row end at the same height, or nearly
}

// The first photo of a day that reaches below this height.
function firstTile(laid, box, top) {
  let low = box.first, high = box.last;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (laid.y[middle] + laid.h[middle] < top) low = middle + 1;
    else high = middle;
  }
  return low;
}
