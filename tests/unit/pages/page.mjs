// What modules of the grid read of a page when they are imported, for tests without a browser.

const remembered = new Map();

export const storage = {
  getItem: (name) => remembered.get(name) ?? null,
  setItem: (name, value) => remembered.set(name, value),
  removeItem: (name) => remembered.delete(name),
  clear: () => remembered.clear(),
};

// The data of the page's form, as `site` in api.js.
const dataset = {api: "/api/v1", user: "alice", may: "update upload", mostbytes: "3000000", portion: "2", photo: "/photos/UID", thumbs: "/t/HASH/SIZE?token=x", videos: "/v/HASH"};
const texts = {photos: ["%(num)s photo", "%(num)s photos"], answered: "answered %(status)s"};
const set = (name, value) => Object.defineProperty(globalThis, name, {value, configurable: true, writable: true});

set("localStorage", storage);
set("navigator", {languages: ["en-GB"], language: "en-GB"});
set("innerWidth", 1280);
set("innerHeight", 800);
set("location", {search: "", pathname: "/", hash: "", replaced: [], replace(address) { this.replaced.push(address); }});
set("ResizeObserver", class { observe() {} });
set("addEventListener", () => {});
set("removeEventListener", () => {});
set("requestAnimationFrame", (act) => act());

// An element without a browser: its children, texts, classes and events, and a place of 1000 pixels on the screen.
class Element extends EventTarget {
  children = []; parent = null; className = ""; style = {}; attributes = {};
  classList = {add() {}, remove() {}, toggle() {}};
  get tagName() { return this.tag.toUpperCase(); }
  get childElementCount() { return this.children.length; }
  get lastChild() { return this.children.at(-1); }
  get isConnected() { return this === document.body || Boolean(this.parent?.isConnected); }
  append(...children) { for (const child of children) { child.remove?.(); child.parent = this; this.children.push(child); } }
  after(element) { document.body.append(element); }
  remove() { if (this.parent) this.parent.children = this.parent.children.filter((child) => child !== this); this.parent = null; }
  replaceChildren(...children) { for (const child of [...this.children]) child.remove?.(); this.children = []; this.append(...children); }
  setAttribute(name, value) { this.attributes[name] = value; }
  getBoundingClientRect() { return {top: 0, height: 1000}; }
  setPointerCapture() {}
  focus() {}
  click() { this.dispatchEvent(new Event("click")); }
}
const create = (tag) => Object.assign(new Element(), {tag});
// All elements below one with this tag, in their order.
export const below = (element, tag) => element.children.flatMap((child) => (child.children ? [...(child.tag === tag ? [child] : []), ...below(child, tag)] : []));
export const event = (name, values = {}) => Object.assign(new Event(name, {cancelable: true}), values);

set("document", {
  documentElement: {lang: "en"}, head: create("head"), body: create("body"), activeElement: null,
  createElement: create, createElementNS: (_, tag) => create(tag),
  querySelector: (selector) => (selector === "#texts" ? {textContent: JSON.stringify(texts)} : selector === "[data-api]" ? {dataset} : null),
});

// Answers of the server by path; a function gets the options of the request. `asked` are the paths in their order.
export function serve(answers) {
  const asked = [];
  set("fetch", async (address, options) => {
    const path = decodeURIComponent(address.replace(dataset.api, ""));
    asked.push(path);
    const [known, answer] = Object.entries(answers).find(([start]) => path === start || path.startsWith(`${start}?`)) ?? [];
    if (!known) throw new TypeError(`no answer for ${path}`);
    const {status = 200, body} = await (typeof answer === "function" ? answer(path, options) : {body: answer});
    return {ok: status < 300, status, text: async () => JSON.stringify(body), headers: new Map()};
  });
  return asked;
}
