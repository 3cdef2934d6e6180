// The photo to which a key leads.

import {dayOf} from "./layouts.js";

// Returns [month, index]; null at the ends.
export async function beside(timeline, layouts, [month, index], key) {
  const {months} = timeline, count = months[month][1];
  if (key === "ArrowRight") return index + 1 < count ? [month, index + 1] : months[month + 1] ? [month + 1, 0] : null;
  if (key === "ArrowLeft")
    return index > 0 ? [month, index - 1] : month > 0 ? [month - 1, months[month - 1][1] - 1] : null;
  await timeline.want(month);
  const laid = layouts.of(month);
  if (!laid) return null;
  const at = centre(laid, index);
  if (key === "Home" || key === "End") {
    const row = inRow(laid, at.y);
    return [month, key === "Home" ? row[0] : row.at(-1)];
  }
  const down = key === "ArrowDown" || key === "PageDown";
  const best = nearest(laid, at, down, key.startsWith("Page") ? innerHeight * 0.8 : 0);
  if (best !== null) return [month, best];
  for (let next = month; months[(next += down ? 1 : -1)];) {
    await timeline.want(next);
    const other = layouts.of(next);
    if (other) return [next, closest(other, at.x, down ? rows(other)[0] : rows(other).at(-1))];
  }
  return null;
}

function centre(laid, index) {
  const box = laid.days[dayOf(laid, index)];
  return {x: box.left + laid.x[index] + laid.w[index] / 2, y: box.top + laid.y[index]};
}

// The upper edges of all rows.
function rows(laid) {
  const found = new Set();
  for (const box of laid.days) for (let at = box.first; at < box.last; at++)
    found.add(Math.round(box.top + laid.y[at]));
  return [...found].sort((a, b) => a - b);
}

function inRow(laid, y) {
  const found = [];
  for (const box of laid.days) for (let at = box.first; at < box.last; at++) if (Math.abs(box.top + laid.y[at] - y) < 1)
    found.push(at);
  return found;
}

function closest(laid, x, y) {
  let best = null, least = Infinity;
  for (const at of inRow(laid, y)) {
    const away = Math.abs(centre(laid, at).x - x);
    if (away < least) {
      least = away;
      best = at;
    }
  }
  return best;
}

// The closest photo in the next row, or in the row that is `far` pixels away.
function nearest(laid, {x, y}, down, far) {
  const found = rows(laid).filter((row) => (down ? row > y + 1 : row < y - 1));
  if (!found.length) return null;
  if (!down) found.reverse();
  return closest(laid, x, found.find((one) => Math.abs(one - y) >= far) ?? found.at(-1));
}
