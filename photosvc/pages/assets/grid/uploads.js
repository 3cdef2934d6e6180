// The list of uploads: files become originals, a few at once, and each tells how far it is and what became of it.

import {call, may, site} from "./api.js";
import {icon, make} from "./icons.js";
import {number} from "./words.js";

const AT_ONCE = 2, BUNDLE = 50, SHOWN = 200;
const STATES = {added: "added", duplicate: "is in the library already", refused: "refused"};
const TOLD = {...STATES, duplicate: "in the library already"};  // of several files

export class Queue {
  #added; #box; #list; #title; #waiting = []; #running = 0; #bundle = null; #past = 0; #all = 0; #counts = {};  // `past`: sent, or refused before

  constructor(added) {
    this.#added = added;
    const close = make("button", {type: "button", className: "plain", ariaLabel: "Close the list of uploads"}, icon("close"));
    close.addEventListener("click", () => {
      this.#box.hidden = true;
      if (!this.#running && this.#counts.added) this.#added(true);
    });
    this.#title = make("p", {});
    this.#title.setAttribute("role", "status");
    this.#list = make("ul", {});
    this.#box = make("section", {className: "uploads", hidden: true, ariaLabel: "Uploads"}, make("header", {}, this.#title, close), this.#list);
    document.body.append(this.#box);
    addEventListener("beforeunload", (event) => { if (this.#running) event.preventDefault(); });
  }

  // Files, and the number of further ones that are too many.
  add(files, further = 0) {
    if (!this.#running && !this.#waiting.length) { this.#list.replaceChildren(); this.#past = 0; this.#all = 0; this.#counts = {}; }
    if (further) this.#list.append(make("li", {className: "refused"}, make("small", {textContent: `${number(further)} more files exceed the limit of one upload: add them again.`})));
    for (const file of files) {
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
    const told = Object.entries(this.#counts).map(([state, count]) => `${number(count)} ${TOLD[state] || state}`);
    this.#title.textContent = this.#running || this.#waiting.length ? this.#past < this.#all ? `Uploading ${number(this.#past + 1)} of ${number(this.#all)}` : "Adding to the library…" : told.join(", ");
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
        this.#past++;
      } catch (error) {
        this.#past++;
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

  // Adds the files that were sent to the originals.
  async #keep(bundle) {
    const sent = bundle.items.filter((item) => item.sent);
    if (!sent.length) return;
    for (const item of sent) item.state.textContent = "adding";
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
    if (state === "refused" && !item.line.isConnected) this.#list.append(item.line);  // of many files, only the refused ones are listed
    this.#counts[state] = (this.#counts[state] || 0) + 1;
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
    request.addEventListener("error", () => reject(new Error("The connection was lost. Add the file again.")));
    request.send(form);
  });
}

const token = () => [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
