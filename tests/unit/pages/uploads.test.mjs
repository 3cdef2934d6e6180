import assert from "node:assert/strict";
import {beforeEach, test} from "node:test";
import {below, serve, storage} from "./page.mjs";

globalThis.BroadcastChannel = class { addEventListener() {} postMessage() {} };

const grid = "../../../photosvc/pages/assets/grid";
const {Queue} = await import(`${grid}/uploads.js`);
const {pauseAfter} = await import(`${grid}/transfer.js`);
await import(`${grid}/arrived.js`);  // else the first upload waits for the disk, which no test does

// Lets everything happen that waits for no timer.
const settle = async () => { for (let turn = 0; turn < 200; turn++) await null; await new Promise(setImmediate); };

class File {
  constructor(name, size = 10, lastModified = 1) { Object.assign(this, {name, size, lastModified}); }
  slice(from, to = this.size) { return Object.assign(new File(this.name, Math.min(to, this.size) - from), {arrayBuffer: async () => {}}); }
}

// The server of files in pieces: `requests` in their order; `fail` gives the status of a request that fails; while `held`
// is a list, requests wait in it.
const server = {
  reset() { Object.assign(this, {requests: [], files: [], fail: () => 0, held: null, after: ""}); },
  answer(request, body) {
    const {method, address, headers} = request, status = this.fail(request, body);
    if (status !== 0) return {status: Math.max(status, 0), headers: {"Retry-After": this.after}};
    if (method === "POST") return {status: 201, headers: {Location: `/api/v1/uploads/${this.files.push({name: request.name, offset: 0, bundle: request.bundle}) - 1}`}};
    const file = this.files[address.split("/").pop()];
    if (method === "PATCH") file.offset = Number(headers["Upload-Offset"]) + body.size;
    if (method === "DELETE") file.deleted = true;
    return {status: 204, headers: {"Upload-Offset": file.offset}};
  },
};

globalThis.XMLHttpRequest = class extends EventTarget {
  upload = new EventTarget(); headers = {}; responseText = "";
  open(method, address) { Object.assign(this, {method, address}); }
  setRequestHeader(name, value) { this.headers[name] = value; }
  getResponseHeader(name) { return this.answer.headers[name] ?? null; }
  abort() { this.gone = true; this.end({status: 0, headers: {}}); }
  end(answer) { this.answer = answer; this.status = answer.status; this.dispatchEvent(new Event("loadend")); }
  async send(body) {
    const read = (name) => atob(new RegExp(`${name} ([^,]*)`).exec(this.headers["Upload-Metadata"] ?? "")?.[1] ?? "");
    this.name = read("filename") || server.files[this.address.split("/").pop()]?.name;
    this.bundle = read("upload");
    server.requests.push(`${this.method} ${this.name}`);
    if (server.held) await new Promise((go) => server.held.push(go));
    else await null;
    if (!this.gone) this.end(server.answer(this, body));
  }
};

let added, statuses, bundles;

beforeEach(() => {
  storage.clear();
  server.reset();
  document.body.replaceChildren();
  added = 0; statuses = {}; bundles = [];
});

// A queue, and what its lines tell.
function queue() {
  const original = serve({"/photos": (path) => (statuses.found ? {body: statuses.found(path)} : {status: 404, body: {}})}), answer = globalThis.fetch;
  globalThis.fetch = async (address, options) => {
    if (options.method !== "PUT") return answer(address, options);
    const name = address.split("/").pop(), fault = statuses.fault?.shift();
    if (fault) return {ok: false, status: fault, text: async () => JSON.stringify({error: "not now"}), headers: new Map()};
    const files = server.files.map((file, token) => ({...file, token: String(token)})).filter(({bundle, deleted}) => bundle === name && !deleted);
    bundles.push(files.map((file) => file.name));
    const body = {files: files.map((file) => ({token: file.token, status: statuses[file.name] ?? "added", hash: `hash of ${file.name}`, PhotoUID: `uid of ${file.name}`}))};
    return {ok: true, status: 200, text: async () => JSON.stringify(body), headers: new Map()};
  };
  const made = new Queue(() => { added++; });
  const lines = () => below(document.body.children.at(-1), "li").map(({children: [name, text]}) => `${name.textContent ?? ""}: ${text.textContent}`);
  const button = (label) => below(document.body.children.at(-1), "button").find((one) => (one.ariaLabel ?? one.textContent) === label);
  return {add: (...files) => made.add(files), lines, button, title: () => below(document.body.children.at(-1), "p")[0].textContent, asked: original};
}

test("failures that may pass are tried again after growing pauses, or when the server says so", () => {
  assert.deepEqual([0, 1, 2, 3, 4, 5, 6, 7, 99].map((failures) => pauseAfter(failures, {status: 0})), [1, 2, 4, 8, 16, 30, 60, 60, 60]);
  for (const status of [0, 408, 409, 423, 429, 500, 502, 503, 504]) assert.equal(pauseAfter(0, {status}), 1, `${status}`);
  for (const status of [400, 401, 403, 404, 413, 415, 422, 507]) assert.equal(pauseAfter(0, {status}), null, `${status}`);
  assert.equal(pauseAfter(0, {status: 429, after: 20}), 20);
  assert.deepEqual([6, 7].map((failures) => pauseAfter(failures, {status: 500})), [60, null]);
});

test("at most three files are sent at once, in their order, and added together", async () => {
  const {add, lines, title} = queue();
  server.held = [];
  add(...["a", "b", "c", "d", "e"].map((name) => new File(name)));
  await settle();
  assert.equal(server.held.length, 3);
  assert.equal(title(), "uploading");
  const go = server.held;
  server.held = null;
  for (const one of go) { one(); await settle(); }
  assert.deepEqual(server.requests.filter((one) => one.startsWith("POST")), ["POST a", "POST b", "POST c", "POST d", "POST e"]);
  assert.deepEqual(bundles.map((files) => files.sort()), [["a", "b", "c", "d", "e"]]);
  assert.deepEqual(lines(), ["a", "b", "c", "d", "e"].map((name) => `${name}: added`));
  assert.deepEqual([added, title()], [1, "5 added"]);
});

test("twenty files are a bundle, and files of one name stay in it", async () => {
  const names = Array.from({length: 20}, (_, at) => `${at}.jpg`);
  for (const [more, lengths] of [[["20.jpg"], [20, 1]], [["19.dng", "20.jpg"], [21, 1]]]) {
    bundles = [];
    server.reset();
    storage.clear();
    queue().add(...[...names, ...more].map((name) => new File(name)));
    await settle();
    assert.deepEqual(bundles.map((files) => files.length), lengths, more.join());
    assert.deepEqual(bundles[1], ["20.jpg"]);
  }
});

test("empty and too large files are refused unsent, and what the server refuses says so", async () => {
  const {add, lines} = queue();
  statuses = {duplicate: "duplicate", refused: "refused"};
  add(new File("empty", 0), new File("large", 3000001), new File("duplicate"), new File("refused"), new File("good"));
  await settle();
  assert.deepEqual(lines(), ["empty: because", "large: because", "duplicate: duplicate", "refused: refused", "good: added"]);
  assert.ok(!server.requests.some((one) => /empty|large/.test(one)));
});

test("a lost connection goes on from where it stopped, after a pause or at once by the button", async (context) => {
  context.mock.timers.enable({apis: ["setTimeout"]});
  const {add, lines, button} = queue();
  let lost = 2;
  server.fail = ({method}) => (method === "PATCH" && lost-- > 0 ? -1 : 0);
  add(new File("a"));
  await settle();
  assert.deepEqual(lines(), ["a: nextTry"]);
  context.mock.timers.tick(999);
  await settle();
  assert.deepEqual(server.requests, ["POST a", "PATCH a"]);
  context.mock.timers.tick(1);
  await settle();
  assert.deepEqual(server.requests.slice(2), ["HEAD a", "PATCH a"]);
  button("again: a").click();
  await settle();
  assert.deepEqual(server.requests.slice(4), ["HEAD a", "PATCH a"]);
  assert.deepEqual(lines(), ["a: added"]);
});

test("a quota that is used up stops a file until somebody tries again; a missing right refuses it", async () => {
  const {add, lines, button} = queue();
  server.fail = ({name}) => (name === "full" ? 507 : name === "forbidden" ? 403 : 0);
  add(new File("full"), new File("forbidden"), new File("good"));
  await settle();
  assert.deepEqual(lines(), ["full: answered 507", "forbidden: because", "good: added"]);
  server.fail = () => 0;
  button("again").click();
  await settle();
  assert.equal(lines()[0], "full: added");
});

test("a file that the server has lost begins again", async () => {
  const {add, lines} = queue();
  let gone = 1;
  server.fail = ({method}) => (method === "PATCH" && gone-- > 0 ? 404 : 0);
  add(new File("a"));
  await settle();
  assert.deepEqual(server.requests, ["POST a", "PATCH a", "POST a", "PATCH a"]);
  assert.deepEqual(lines(), ["a: added"]);
});

test("a proxy that takes no large pieces gets smaller ones, and each goes on from where the last one stopped", async () => {
  const {add, lines} = queue(), sent = [];
  server.fail = ({method, headers}, body) => {
    if (method !== "PATCH") return 0;
    sent.push([headers["Upload-Offset"], body.size]);
    return body.size > 600000 ? 413 : 0;
  };
  add(new File("a", 2000000));
  await settle();
  assert.deepEqual(lines(), ["a: added"]);
  const taken = sent.filter(([, bytes]) => bytes <= 600000);
  assert.ok(sent.length > taken.length);
  assert.equal(taken.reduce((at, [offset, bytes]) => { assert.equal(offset, at); return at + bytes; }, 0), 2000000);
});

test("a session that ended stops a file until somebody tries again", async () => {
  const {add, lines} = queue();
  server.fail = ({method}) => (method === "PATCH" ? 401 : 0);
  add(new File("a"));
  await settle();
  assert.deepEqual(lines(), ["a: signedOut"]);
});

test("cancelled files are deleted, others beside them are added", async (context) => {
  const {add, lines, button} = queue();
  server.held = [];
  add(new File("a"), new File("b"));
  await settle();
  button("cancelFile").click();
  const go = server.held;
  server.held = null;
  for (const one of go) { one(); await settle(); }
  assert.deepEqual(lines(), ["a: cancelled", "b: added"]);
  assert.deepEqual(bundles, [["b"]]);
  assert.equal(button("cancelAll").hidden, true);
  server.fail = ({method}) => (method === "PATCH" ? -1 : 0);
  context.mock.timers.enable({apis: ["setTimeout"]});
  add(...["c", "d", "e", "f"].map((name) => new File(name)));
  await settle();
  button("cancelAll").click();
  await settle();
  assert.deepEqual(lines(), ["c", "d", "e", "f"].map((name) => `${name}: cancelled`));
  assert.deepEqual(server.files.filter(({deleted}) => deleted).map(({name}) => name).filter((name) => name !== "a"), ["c", "d", "e"]);
  assert.equal(storage.getItem("photosvc-uploads"), null);
});

test("a lost answer about added files is asked for again after a pause", async (context) => {
  context.mock.timers.enable({apis: ["setTimeout"]});
  const {add, lines} = queue();
  statuses.fault = [503, 502];
  add(new File("a"));
  await settle();
  assert.deepEqual(lines(), ["a: adding"]);
  for (const seconds of [1, 2]) { context.mock.timers.tick(1000 * seconds); await settle(); }
  assert.deepEqual(lines(), ["a: added"]);
});

test("what is half sent continues after a reload when the same file is chosen again", async () => {
  const first = queue();
  server.fail = ({method}) => (method === "PATCH" ? 401 : 0);
  first.add(new File("a", 900, 5));
  await settle();
  server.files[0].offset = 300;
  server.fail = () => 0;
  const second = queue();
  second.add(new File("a", 900, 5));
  await settle();
  assert.deepEqual(server.requests.slice(2), ["HEAD a", "PATCH a"]);
  assert.deepEqual(second.lines(), ["a: added"]);
});
