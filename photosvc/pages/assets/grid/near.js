// Which days and photos of the months in the page are near the screen.

import {dayOf} from "./layouts.js";

// Between two heights of the span, by keys: `wanted` photos as [month, index, day, layout] and `days` as [month, box];
// `shown` are the months there, and `missing` those whose columns are not loaded. The photo at `held` is always wanted.
export function near(span, layouts, upper, lower, held) {
  const wanted = new Map(), days = new Map(), shown = [], missing = [], {first, tops, heights} = span;
  for (let number = 0; number < tops.length; number++) {
    const top = tops[number], month = first + number;
    if (top > lower || top + heights[number] < upper) continue;
    const laid = layouts.of(month);
    if (!laid) { missing.push(month); continue; }
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
    if (days[middle].top + days[middle].height < top) low = middle + 1; else high = middle;
  }
  return Math.max(0, low - 12);  // days of one row end at the same height, or nearly
}

// The first photo of a day that reaches below this height.
function firstTile(laid, box, top) {
  let low = box.first, high = box.last;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (laid.y[middle] + laid.h[middle] < top) low = middle + 1; else high = middle;
  }
  return low;
}
