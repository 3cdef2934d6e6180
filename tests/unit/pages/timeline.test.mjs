import assert from "node:assert/strict";
import {test} from "node:test";
import {below, event, serve} from "./page.mjs";

const grid = "../../../photosvc/pages/assets/grid";
const {Timeline} = await import(`${grid}/timeline.js`);
const {Sequence} = await import(`${grid}/sequence.js`);
const {Scrubber} = await import(`${grid}/scrubber.js`);

const MONTHS = [["2024-05", 40], ["2024-03", 3], ["2024-01", 2], ["2023-12", 100], ["2022-06", 50], ["0000-00", 5]];

async function timeline(months = MONTHS) {
  serve({"/photos/timeline": {months, total: months.reduce((sum, [, count]) => sum + count, 0), version: "1"}, ...columns(months)});
  const made = new Timeline();
  await made.renew();
  return made;
}

// The columns of each month, and its photos, named by their month and position.
const columns = (months) => Object.fromEntries(months.flatMap(([name, count]) => [
  [`/photos/timeline/months/${name}`, {name, version: "1", days: [[1, count]], ratio: Array(count).fill(150), color: "0".repeat(count), type: "i".repeat(count)}],
  [`/photos/timeline/months/${name}/photos`, (path) => {
    const asked = new URLSearchParams(path.split("?")[1]), from = Number(asked.get("from"));
    return {body: {version: "1", from, photos: Array.from({length: Number(asked.get("n"))}, (_, at) => ({uid: `${name}.${from + at}`}))}};
  }],
]));

// A scrubber of 1000 pixels, the places it led to, and its element.
async function scrubber(list) {
  const led = [], place = {month: 0, offset: 0, height: 100};
  const grid = Object.assign(new EventTarget(), {
    place: () => place, goTo(month, offset) { place.month = month; led.push([month, offset]); }, goToShare(month, share) { led.push([month, share]); },
  });
  const root = document.createElement("div");
  document.body.replaceChildren();
  const made = new Scrubber(root, list, grid);
  return {made, led, place, element: document.body.children[0]};
}

test("months with few photos stand together, and each position has its month", async () => {
  const list = await timeline();
  assert.deepEqual(list.months, [["2024-05", 40], ["2024-03", 5], ["2023-12", 100], ["2022-06", 50], ["0000-00", 5]]);
  assert.deepEqual([list.begins, list.total], [[0, 40, 45, 145, 195], 200]);
  for (const [position, month, index] of [[0, 0, 0], [39, 0, 39], [40, 1, 0], [44, 1, 4], [45, 2, 0], [199, 4, 4]]) {
    assert.deepEqual(list.at(position), {month, index}, `position ${position}`);
  }
  assert.deepEqual([list.nameOf(1, 2), list.nameOf(1, 3)], ["2024-03", "2024-01"]);
  assert.deepEqual([list.find("2024-01"), list.find("2021-01")], [1, -1]);
});

test("an address leads to its month or to the nearest one", async () => {
  const list = await timeline();
  const cases = [["2024-05", {month: 0, offset: 12}], ["2024-01", {month: 1, index: 3}], ["2023-11", {month: 2, offset: 0}], ["2030-01", {month: 0, offset: 0}], ["1999-01", {month: 3, offset: 0}], ["", {month: 0}]];
  for (const [name, place] of cases) assert.deepEqual(list.spot(name, "12"), place, name);
  assert.deepEqual(["#2012-05.120", "#2012-05", "#x"].map((hash) => list.placeIn(hash)), [["2012-05", "120"], ["2012-05", undefined], []]);
});

test("photos are read in pieces, each once, the first with the timeline, and found again", async () => {
  const list = await timeline([["2024-05", 250], ["2024-04", 10]]), asked = serve(columns([["2024-05", 250], ["2024-04", 10]]));
  await Promise.all([list.need(0, 90, 130), list.need(0, 120, 180)]);
  await list.need(0, 0, 250);
  assert.deepEqual(asked.map((path) => path.split("?")[1]), ["from=100&n=100", "from=200&n=50"]);
  assert.equal(list.photo(0, 249).uid, "2024-05.249");
  assert.equal(await list.locate("2024-04.3", ["2024-04"]), 253);
  assert.equal(await list.locate("nothing", ["2024-04"]), -1);
});

test("photos of many months take few requests", async () => {
  const months = Array.from({length: 82}, (_, at) => [`${2024 - Math.floor(at / 12)}-${String(12 - (at % 12)).padStart(2, "0")}`, 1]);
  const list = await timeline(months);
  assert.ok(list.months.length <= 6, `${list.months.length} entries`);
  assert.equal(list.months.reduce((sum, [, count]) => sum + count, 0), 82);
  assert.deepEqual(months.filter(([name]) => list.find(name) < 0), []);
});

test("a piece that failed is read again", async (context) => {
  const list = await timeline([["2024-05", 150]]);
  context.mock.timers.enable({apis: ["setTimeout"]});  // scrolling asks again after seconds
  serve({"/photos/timeline/months/2024-05/photos": () => ({status: 503, body: {error: "busy"}})});
  await assert.rejects(list.need(0, 100, 150), {status: 503});
  serve(columns([["2024-05", 150]]));
  await list.need(0, 100, 150);
  assert.equal(list.photo(0, 149).uid, "2024-05.149");
});

test("a range over months has every photo, at most as many as wanted", async () => {
  const list = await timeline([["2024-05", 30], ["2024-04", 40]]);
  assert.deepEqual((await list.range(28, 32, 100)).map(({uid}) => uid), ["2024-05.28", "2024-05.29", "2024-04.0", "2024-04.1", "2024-04.2"]);
  assert.equal((await list.range(0, 69, 10)).length, 10);
});

test("the scrubber leads from a height to the photo with this share, and back", async () => {
  const {element, led, made} = await scrubber(await timeline());
  element.dispatchEvent(event("pointerdown", {button: 0, clientY: 475}));  // position 95: the middle of December
  assert.deepEqual(led.at(-1), [2, 0.5]);
  assert.equal(element.children[1].style.transform, "translateY(475px)");
  assert.equal(element.children[2].textContent, "Dec 2023");
  element.dispatchEvent(event("pointermove", {clientY: 5000}));
  assert.deepEqual(led.at(-1), [4, 0.8]);
  element.dispatchEvent(event("pointermove", {clientY: -5}));
  assert.deepEqual(led.at(-1), [0, 0]);
  element.dispatchEvent(event("pointerup"));
  made.show({month: 3, offset: 50, height: 100});
  assert.equal(element.children[1].style.transform, "translateY(850px)");
  assert.equal(element.ariaValueText, "June 2022");
});

test("a month of a few pixels is reached at its beginning", async () => {
  const {element, led} = await scrubber(await timeline([["2024-05", 10000], ["2023-04", 20], ["2022-04", 20]]));
  element.dispatchEvent(event("pointerdown", {button: 0, clientY: 997}));
  assert.deepEqual(led.at(-1), [1, 0]);
});

test("keys of the scrubber go by months and years, and stop at the ends", async () => {
  const {made, place, led} = await scrubber(await timeline());
  for (const [from, key, to] of [[0, "ArrowDown", 1], [0, "ArrowUp", 0], [4, "ArrowRight", 4], [3, "ArrowLeft", 2], [0, "PageDown", 2], [2, "PageUp", 1], [1, "End", 4], [3, "Home", 0]]) {
    place.month = from;
    assert.equal(made.go(key), true);
    assert.deepEqual(led.at(-1), [to, 0], `${key} at ${from}`);
  }
  assert.equal(made.go("x"), false);
});

test("years are written where they have room", async () => {
  const {element} = await scrubber(await timeline());
  assert.deepEqual(below(element, "span").filter(({style}) => style.top).map(({textContent, style}) => [textContent, style.top]), [["2024", "0px"], ["2023", "225px"], ["2022", "725px"]]);
});

test("positions of other orders are stretches, read with the nearest cursor", async () => {
  const answer = (path) => {
    const asked = new URLSearchParams(path.split("?")[1]), from = Number(asked.get("from")), n = Math.min(Number(asked.get("n")), 500 - from);
    const photos = Array.from({length: n}, (_, at) => ({uid: `p${from + at}`}));
    return {body: {version: "1", total: 500, from, photos, ratio: Array(n).fill(100), color: "0".repeat(n), type: "i".repeat(n), next: from + n < 500 ? `c${from + n}` : ""}};
  };
  const asked = serve({"/photos/sequence": answer}), list = new Sequence();
  await list.renew();
  assert.deepEqual(list.months, [["1", 120], ["121", 120], ["241", 120], ["361", 120], ["481", 20]]);
  assert.deepEqual([list.find("241"), list.find("242"), list.spot("250", "9"), list.spot("241", "9")], [2, -1, {month: 2, offset: 0}, {month: 2, offset: 9}]);
  await list.want(3);
  assert.equal(new URLSearchParams(asked.at(-1).split("?")[1]).get("cursor"), "c240");
  assert.equal(list.photo(3, 0).uid, "p360");
  assert.deepEqual((await list.range(118, 121, 10)).map(({uid}) => uid), ["p118", "p119", "p120", "p121"]);
  assert.equal(await list.locate("p121"), 121);
});
