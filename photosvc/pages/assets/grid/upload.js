// Files that are dragged into the page or chosen become originals; each shows how far it is and what became of it.

import {call, may, site} from "./api.js";
import {icon, make} from "./icons.js";
import {number} from "./words.js";

const AT_ONCE = 2, BUNDLE = 50, MOST = 5000, SHOWN = 200;
const STATES = {added: "added", duplicate: "is in the library already", refused: "refused"};

export function uploading(added) {
  if (!may("upload") || !site.user) return;
  const input = make("input", {type: "file", multiple: true, hidden: true, ariaLabel: "Files to upload", tabIndex: -1});
  const button = make("button", {type: "button", className: "upload"}, icon("upload"), make("span", {textContent: "Upload"}));
  button.addEventListener("click", () => input.click());
  const nav = document.querySelector(".side nav"), last = nav?.querySelector(".last");
  if (nav) nav.insertBefore(button, last);
  document.body.append(input);
  const queue = new Queue(added);
  input.addEventListener("change", () => { queue.add([...input.files]); input.value = ""; });

  let depth = 0;
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  const over = (on) => document.documentElement.classList.toggle("dropping", on);
  addEventListener("dragenter", (event) => { if (hasFiles(event)) { event.preventDefault(); depth++; over(true); } });
  addEventListener("dragleave", (event) => { if (hasFiles(event) && --depth <= 0) { depth = 0; over(false); } });
  addEventListener("dragover", (event) => { if (hasFiles(event)) event.preventDefault(); });
  addEventListener("drop", async (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth = 0;
    over(false);
    queue.add(await dropped(event.dataTransfer));
  });
}

// The files of a drop, those in folders too.
async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files];
  const found = [];
  while (entries.length && found.length < MOST) {
    const entry = entries.shift();
    if (entry.isFile) {
      await new Promise((resolve) => entry.file((file) => { found.push(file); resolve(); }, resolve));
    } else {
      const reader = entry.createReader();
      for (;;) {
        const some = await new Promise((resolve) => reader.readEntries(resolve, () => resolve([])));
        if (!some.length) break;
        entries.push(...some);
      }
    }
  }
  return found;
}

class Queue {
  #added; #box; #list; #title; #waiting = []; #running = 0; #bundle = null; #done = 0; #all = 0; #counts = {};

  constructor(added) {
    this.#added = added;
    const close = make("button", {type: "button", className: "plain", ariaLabel: "Close the list of uploads"}, icon("close"));
    close.addEventListener("click", () => { this.#box.hidden = true; });
    this.#title = make("p", {});
    this.#title.setAttribute("role", "status");
    this.#list = make("ul", {});
    this.#box = make("section", {className: "uploads", hidden: true, ariaLabel: "Uploads"}, make("header", {}, this.#title, close), this.#list);
    document.body.append(this.#box);
    addEventListener("beforeunload", (event) => { if (this.#running) event.preventDefault(); });
  }

  add(files) {
    if (!files.length) return;
    if (!this.#running && !this.#waiting.length) { this.#list.replaceChildren(); this.#done = 0; this.#all = 0; this.#counts = {}; }
    for (const file of files.slice(0, MOST)) {
      const bar = make("progress", {max: 1, value: 0, ariaLabel: file.name}), state = make("small", {textContent: "waits"});
      const line = make("li", {}, make("span", {textContent: file.name, dir: "auto"}), state, bar);
      if (this.#list.childElementCount < SHOWN) this.#list.append(line);
      this.#waiting.push({file, bar, state, line});
      this.#all++;
    }
    this.#box.hidden = false;
    this.#tell();
    while (this.#running < AT_ONCE && this.#waiting.length) this.#run();
  }

  #tell() {
    const told = Object.entries(this.#counts).map(([state, count]) => `${number(count)} ${STATES[state] || state}`);
    this.#title.textContent = this.#running || this.#waiting.length ? `Uploading ${number(this.#done + 1)} of ${number(this.#all)}` : told.join(", ");
  }

  async #run() {
    this.#running++;
    while (this.#waiting.length) {
      const item = this.#waiting.shift();
      if (!this.#bundle || this.#bundle.items.length >= BUNDLE) this.#bundle = {token: token(), items: [], open: 0};
      const bundle = this.#bundle;
      bundle.items.push(item);
      bundle.open++;
      try {
        await send(`${site.api}/users/${site.user}/upload/${bundle.token}`, item);
        item.sent = true;
      } catch (error) {
        this.#end(item, "refused", error.message);
      }
      bundle.open--;
      this.#tell();
      if (!bundle.open && (bundle.items.length >= BUNDLE || !this.#waiting.length)) {
        if (this.#bundle === bundle) this.#bundle = null;
        await this.#keep(bundle);
      }
    }
    this.#running--;
    this.#tell();
  }

  // What was sent becomes originals.
  async #keep(bundle) {
    const sent = bundle.items.filter((item) => item.sent);
    if (!sent.length) return;
    for (const item of sent) item.state.textContent = "is being added";
    try {
      const {data} = await call(`/users/${site.user}/upload/${bundle.token}`, {method: "PUT", body: may("fill") ? {albums: [site.album]} : {}});
      const left = [...sent];
      for (const file of data.files) {
        const at = left.findIndex((item) => item.hash && item.hash === file.hash), by = left.findIndex((item) => item.file.name === file.name);
        const [item] = left.splice(at >= 0 ? at : by >= 0 ? by : 0, 1);
        if (item) this.#end(item, file.status, file.reason);
      }
      for (const item of left) this.#end(item, "added");
      if (data.files.some((file) => file.status === "added")) this.#added();
    } catch (error) {
      for (const item of sent) this.#end(item, "refused", error.message);
    }
  }

  #end(item, state, reason = "") {
    item.bar.remove();
    item.state.textContent = reason ? `${STATES[state] || state}: ${reason}` : STATES[state] || state;
    item.line.className = state;
    this.#counts[state] = (this.#counts[state] || 0) + 1;
    this.#done++;
    this.#tell();
  }
}

// `fetch` does not tell how far a body is.
function send(address, item) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest(), form = new FormData();
    form.append("files", item.file, item.file.name);
    request.open("POST", address);
    request.setRequestHeader("X-Photosvc", "1");
    request.upload.addEventListener("progress", (event) => {
      if (!event.lengthComputable) return;
      item.bar.value = event.loaded / event.total;
      item.state.textContent = `${Math.round((100 * event.loaded) / event.total)} %`;
    });
    request.addEventListener("load", () => {
      let data = {};
      try { data = JSON.parse(request.responseText); } catch { /* a proxy's page */ }
      if (request.status >= 400) { reject(new Error(data.error || `the server answered ${request.status}`)); return; }
      item.hash = data.files?.[0]?.hash;
      resolve();
    });
    request.addEventListener("error", () => reject(new Error("the connection broke")));
    request.send(form);
  });
}

const token = () => [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
