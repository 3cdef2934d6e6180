import assert from "node:assert/strict";
import {test} from "node:test";
import "./page.mjs";

const grid = "../../../photosvc/pages/assets/grid";
const {guessHeight, layOut, shape} = await import(`${grid}/rows.js`);
const {Layouts, dayOf} = await import(`${grid}/layouts.js`);
const {Span, near} = await import(`${grid}/span.js`);
const {beside} = await import(`${grid}/beside.js`);

const size = {width: 1000, row: 200, gap: 4, between: 24, head: 38, after: 20};
const same = (count, ratio = 150) => ({days: [[1, count]], ratio: Array(count).fill(ratio)});
const months = (...all) => ({months: all.map((columns, number) => [`2024-0${all.length - number}`, columns.ratio.length]), columns: (month) => all[month], headed: true, want: async () => {}});
const layouts = (...all) => ({of: (month) => (all[month] ? layOut(all[month], size) : null)});
// A span of months of this height each.
const span = (heights, first = 0) => {
  const made = new Span(document.createElement("div"));
  made.set(first, first + heights.length - 1, (month) => heights[month - first], () => {});
  return made;
};

test("rows of a large day fill the width, and share the pictures evenly", () => {
  for (const count of [3, 7, 20, 101]) {
    const {x, y, w, h, days} = layOut(same(count), size), rows = new Map();
    for (let at = 0; at < count; at++) rows.set(y[at], [...(rows.get(y[at]) ?? []), at]);
    for (const row of rows.values()) {
      const last = row.at(-1);
      assert.ok(Math.abs(x[last] + w[last] - 1000) < 0.01, `the row of ${row} of ${count}`);
      for (const at of row.slice(1)) assert.ok(Math.abs(x[at] - x[at - 1] - w[at - 1] - 4) < 0.01, `the gap before ${at} of ${count}`);
      assert.ok(h[last] <= 340, `${h[last]} is 1.7 times a row at most`);
    }
    assert.equal(y[0], 38);
    assert.equal(Math.fround(days[0].height), Math.fround(Math.max(...y) + h[count - 1]));
  }
});

test("every picture has its shape, in the order of the day", () => {
  const {w, h} = layOut({days: [[1, 4]], ratio: [133, 75, 100, 200]}, size);
  [1.33, 0.75, 1, 2].forEach((ratio, at) => assert.ok(Math.abs(w[at] / h[at] - ratio) < 1e-4, `picture ${at}`));
});

test("very wide and very tall pictures are cropped", () => {
  assert.deepEqual([1, 45, 100, 350, 2000].map(shape), [0.45, 0.45, 1, 3.5, 3.5]);
});

test("small days share a row, a large one begins below them", () => {
  const {days, height} = layOut({days: [[9, 1], [8, 1], [7, 12]], ratio: Array(14).fill(150)}, size);
  assert.deepEqual(days.map(({day, first, last}) => [day, first, last]), [[9, 0, 1], [8, 1, 2], [7, 2, 14]]);
  assert.equal(days[0].top, days[1].top);
  assert.equal(days[1].left, days[0].width + 24);
  assert.equal(days[2].top, days[0].height + 20);
  assert.equal(height, days[2].top + days[2].height + 20);
});

test("a small day is wide enough for its heading, inside of the grid", () => {
  const [day] = layOut(same(1, 45), size).days;
  assert.equal(Math.fround(day.width), 103.5);  // 0.45 of 230 pixels
  assert.equal(layOut(same(1, 45), {...size, row: 100}).days[0].width, 96);
  assert.equal(layOut(same(1, 45), {...size, row: 100, width: 90}).days[0].width, 90);
});

test("no photos are no rows", () => assert.deepEqual(layOut({days: [], ratio: []}, size).days, []));

test("the height of a month that is not loaded grows with its photos", () => {
  assert.equal(guessHeight(1, size), 200 + 58);
  assert.equal(guessHeight(120, size), 30 * 200 + 10 * 58);
});

test("layouts are computed once for the columns of a month, and again for others or another width", () => {
  globalThis.getComputedStyle = () => ({getPropertyValue: (name) => ({"--gap": "4", "--row": "200"})[name]});
  const root = {clientWidth: 1000}, timeline = months(same(5)), known = new Layouts(root, timeline);
  const laid = known.of(0);
  assert.deepEqual(known.size, size);
  assert.equal(known.of(0), laid);
  assert.equal(known.measure(), false);
  root.clientWidth = 0;  // not shown
  assert.equal(known.measure(), false);
  root.clientWidth = 500;
  assert.equal(known.measure(), true);
  assert.notEqual(known.of(0), laid);
  timeline.columns = () => null;
  assert.equal(known.of(0), null);
  assert.equal(known.height(0), guessHeight(5, known.size));
});

test("the months of a span stand one below the other; the place is the last one that began", () => {
  const three = span([100, 50, 300], 4);
  assert.deepEqual([three.first, three.last, three.height, three.top(6)], [4, 6, 450, 150]);
  assert.deepEqual(three.at(120), {month: 5, offset: 20, height: 50});
  assert.deepEqual(three.at(99.5), {month: 5, offset: 0, height: 50});  // pages scroll to whole pixels
  assert.deepEqual(three.at(-40), {month: 4, offset: 0, height: 100});
  assert.deepEqual(three.at(9999), {month: 6, offset: 9849, height: 300});
});

test("months that leave a span leave the page", () => {
  const moved = span([10, 10, 10]), gone = [];
  const stays = moved.section(2);
  moved.set(2, 4, () => 20, (month) => gone.push(month));
  assert.deepEqual(gone, [0, 1]);
  assert.equal(moved.section(2), stays);
  assert.deepEqual([moved.has(1), moved.has(4), moved.section(2).style.top], [false, true, "0px"]);
  moved.clear((month) => gone.push(month));
  assert.deepEqual([gone, moved.height], [[0, 1, 2, 3, 4], 0]);
});

test("exactly the photos that reach between two heights are near, at any place of a long month", () => {
  const columns = {days: Array.from({length: 31}, (_, day) => [31 - day, 1 + ((day * 7) % 40)]), ratio: []};
  columns.days.forEach(([, count]) => { for (let at = 0; at < count; at++) columns.ratio.push(50 + ((at * 37) % 200)); });
  const all = layouts(columns), laid = all.of(0), one = span([laid.height]);
  for (let upper = -500; upper < laid.height + 500; upper += 97) {
    const lower = upper + 900, {wanted} = near(one, all, upper, lower, null), expected = [];
    for (let at = 0; at < laid.y.length; at++) {
      const top = laid.days[dayOf(laid, at)].top + laid.y[at];
      if (top + laid.h[at] >= upper && top <= lower) expected.push(`0:${at}`);
    }
    const missing = expected.filter((key) => !wanted.has(key));
    assert.deepEqual(missing, [], `between ${upper} and ${lower}`);
    assert.ok(wanted.size <= expected.length + 40, `${wanted.size} instead of ${expected.length} at ${upper}`);
  }
});

test("months without columns are missing only where they reach the screen, and the held photo stays", () => {
  const all = layouts(same(3), null, same(3), null), four = span([300, 1000, 300, 1000]);
  const {wanted, shown, missing, days} = near(four, all, 1250, 1700, [0, 2]);
  assert.deepEqual([missing, shown], [[1, 3], [2]]);
  assert.deepEqual([...wanted.keys()], ["2:0", "2:1", "2:2", "0:2"]);
  assert.deepEqual([...days.keys()], ["2:0", "0:0"]);
});

test("arrows lead to the next photo and over the ends of months, up and down to the nearest in the row", async () => {
  const timeline = months(same(12), same(12)), all = layouts(same(12), same(12)), {y, x} = all.of(0);
  const to = (at, key) => beside(timeline, all, at, key), row = y.filter((top) => top === y[0]).length;
  assert.deepEqual(await to([0, 11], "ArrowRight"), [1, 0]);
  assert.deepEqual(await to([1, 0], "ArrowLeft"), [0, 11]);
  assert.equal(await to([0, 0], "ArrowLeft"), null);
  assert.equal(await to([1, 11], "ArrowRight"), null);
  assert.deepEqual(await to([0, 1], "ArrowDown"), [0, row + 1]);
  assert.equal(x[1], x[row + 1]);
  assert.deepEqual(await to([0, row + 1], "ArrowUp"), [0, 1]);
  assert.deepEqual(await to([0, 1], "End"), [0, row - 1]);
  assert.deepEqual(await to([0, row - 1], "Home"), [0, 0]);
  assert.deepEqual(await to([0, 11], "ArrowDown"), [1, row - 1]);
  assert.deepEqual(await to([1, 1], "ArrowUp"), [0, 12 - row + 1]);
  assert.equal(await to([1, 11], "ArrowDown"), null);
  assert.deepEqual(await to([0, 0], "PageDown"), [0, 12 - row]);  // 640 pixels, or as far as the month goes
});
