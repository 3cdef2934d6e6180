// The list of uploads, a few of which are sent at once; each shows its progress and its result.

import {call, may, photoPage, site} from "./api.js";
import {button, icon, make} from "./elements.js";
import {Transfer, pauseAfter, remembered} from "./transfer.js";
import {locale, number, t} from "./words.js";

// A bundle is added by one request, which must be answered before proxies give up (60 seconds are usual).
const AT_ONCE = 3, BUNDLE = 20, SHOWN = 200, MIB = 1 << 20;
const FILES = 5000;    // of one drop
const LISTENS = 300;   // milliseconds in which other tabs tell what they upload
const STATES = ["added", "stored", "damaged", "not_shown", "duplicate", "refused", "stopped", "left", "cancelled",
  "earlier"];
const STORED = ["added", "stored", "damaged", "not_shown"];
const WRONG = ["refused", "damaged", "not_shown"];
const CANCELLABLE = ["waiting", "sending", "stopped", "left"];
const OPEN = ["waiting", "sending", "sent", "adding"];
const LATER = new Set([401, 507]);  // failures after which the same file may be taken another time
const LOST = new Set([0, 408, 502, 504]);

export class Queue {
  #added; #box; #list; #title; #again; #all;
  #items = [];
  #waiting = [];
  #running = 0;
  #bundles = new Map();
  #current = null;
  #tabs = null;
  #elsewhere = new Set();
  #untold = false;

  constructor(added) {
    this.#added = added;
    const close = button({className: "plain", ariaLabel: t("closeUploads")}, () => {
      this.#box.hidden = true;
      if (!this.#running && this.#count(...STORED)) this.#added(true);
    }, icon("close"));
    const forAll = (name, act) => button({className: "plain", textContent: t(name), hidden: true}, () => {
      for (const item of [...this.#items]) act(item);
    });
    this.#title = make("p", {role: "status"});
    this.#again = forAll("again", (item) => this.#retry(item));
    this.#all = forAll("cancelAll", (item) => this.#cancel(item));
    this.#list = make("ul");
    const page = document.querySelector("form.sending");
    this.#box = make("section", {className: "uploads", hidden: true, ariaLabel: t("uploads")},
      make("header", {}, this.#title, this.#again, this.#all, ...(page ? [] : [close])), this.#list);
    if (page) page.after(this.#box);
    else {
      document.head.append(make("link", {rel: "stylesheet", href: new URL("uploads.css", import.meta.url).href}));
      document.body.append(this.#box);
    }
    // Once requested, the server adds files without the page.
    addEventListener("beforeunload", (event) => {
      if (this.#untold || this.#count("waiting", "sending")) event.preventDefault();
    });
    // Tabs tell each other the bundles that they send.
    this.#tabs = new BroadcastChannel("photosvc-uploads");
    this.#tabs.addEventListener("message", ({data}) => {
      if (data) for (const name of data) this.#elsewhere.add(name);
      else this.#tabs.postMessage(this.#items.filter(({state}) => OPEN.includes(state))
        .map(({transfer}) => transfer?.bundle));
    });
  }

  // Resumes an interrupted upload, for example after a reload. Complete files are added to the library; the others
  // continue once they are chosen again.
  async resume() {
    this.#tabs.postMessage(null);
    await new Promise((resolve) => setTimeout(resolve, LISTENS));
    const own = new Set(this.#items.map(({transfer}) => transfer?.bundle)), found = new Set();
    for (const file of remembered().filter(({bundle}) => !own.has(bundle) && !this.#elsewhere.has(bundle))) {
      const item = this.#line(file), bundle = this.#bundle(file.bundle);
      item.transfer = this.#transfer(item, file.bundle);
      item.bar.value = file.offset / file.size;
      const text = file.sent ? "100 %" : t("chooseToContinue", {percent: percent(file.offset, file.size)});
      this.#become(item, file.sent ? "sent" : "left", text);
      item.cancel.hidden = file.sent;
      this.#items.push(item);
      this.#list.append(item.line);
      bundle.items.add(item);
      found.add(bundle);
    }
    this.#box.hidden = !this.#items.length;
    this.#tell();
    for (const bundle of found) this.#keepRest(bundle);
  }

  // Adds dropped files and the files in dropped folders.
  async drop(entries) {
    const found = [];
    while (entries.length && found.length <= FILES) {
      const entry = entries.shift();
      if (entry.isFile) {
        const file = await new Promise((resolve) => entry.file(resolve, () => resolve(null)));
        if (file) found.push(file);
      } else {
        const reader = entry.createReader();
        for (;;) {
          const some = await new Promise((resolve) => reader.readEntries(resolve, () => resolve([])));
          if (!some.length) break;
          entries.push(...some);
        }
      }
    }
    this.add(found);
  }

  add(files) {
    if (!files.length) return;
    if (!this.#count(...OPEN, "stopped", "left")) {
      this.#list.replaceChildren();
      this.#items = [];
    }
    if (files.length > FILES) {
      const text = make("small", {textContent: t("mostFiles", {most: FILES})});
      this.#list.append(make("li", {className: "refused"}, text));
    }
    for (const file of files.slice(0, FILES)) {
      const former = this.#items.find((item) => item.state === "left" && isSame(item.file, file));
      if (former) {
        Object.assign(former, {file, transfer: null});
        this.#wait(former);
        continue;
      }
      const item = this.#line(file);
      this.#items.push(item);
      if (this.#list.childElementCount < SHOWN) this.#list.append(item.line);
      const most = Number(site.mostbytes);
      if (!file.size) this.#end(item, "refused", t("empty"));
      else if (file.size > most) this.#end(item, "refused", t("tooLarge", {most: Math.floor(most / MIB)}));
      else this.#waiting.push(item);
    }
    this.#box.hidden = false;
    this.#start();
  }

  #line(file) {
    const again = {className: "plain", textContent: t("again"), ariaLabel: `${t("again")}: ${file.name}`, hidden: true};
    const cancel = {className: "plain", ariaLabel: t("cancelFile", {file: file.name})};
    const item = {
      file, state: "waiting",
      name: make("span", {textContent: file.name, dir: "auto"}),
      text: make("small", {textContent: t("waiting")}),
      bar: make("progress", {max: 1, value: 0, ariaLabel: file.name}),
      again: button(again, () => this.#retry(item)),
      cancel: button(cancel, () => this.#cancel(item), icon("close")),
    };
    item.line = make("li", {}, item.name, item.text, item.bar, item.again, item.cancel);
    return item;
  }

  #start() {
    while (this.#running < AT_ONCE && this.#waiting.length) this.#run();
    this.#tell();
  }

  #count(...states) { return this.#items.filter(({state}) => states.includes(state)).length; }

  #tell() {
    const text = this.#summary();
    if (this.#title.textContent !== text) this.#title.textContent = text;
    this.#all.hidden = !this.#count("waiting", "sending", "left");
    this.#again.hidden = !this.#count("stopped");
  }

  #summary() {
    const sending = this.#count("waiting", "sending"), total = this.#items.length;
    if (sending) return t("uploading", {at: total - sending + 1, total});
    if (this.#count("adding") || (!this.#count("left") && this.#count("sent"))) return t("addingAll");
    const present = STATES.filter((state) => this.#count(state));
    return present.map((state) => `${number(this.#count(state))} ${t(state).toLocaleLowerCase(locale)}`).join(", ");
  }

  async #run() {
    this.#running++;
    while (this.#waiting.length) {
      await this.#send(this.#waiting.shift());
      // A full bundle is added at once, others when no file is left to send.
      for (const bundle of [...this.#bundles.values()]) {
        if (!bundle.open && (isFull(bundle, this.#waiting[0]) || !this.#waiting.length)) await this.#keep(bundle);
      }
    }
    this.#running--;
    this.#start();
  }

  #link(item, uid) { item.name.replaceChildren(make("a", {href: photoPage(uid), textContent: item.file.name})); }

  async #send(item) {
    if (!this.#current || isFull(this.#current, item) || this.#current.kept) this.#current = this.#bundle(token());
    const transfer = item.transfer ??= this.#transfer(item, this.#current.token);
    const bundle = this.#bundle(transfer.bundle);
    bundle.items.add(item);
    bundle.open++;
    item.state = "sending";
    try {
      await transfer.send();
      this.#become(item, "sent", "100 %");
      item.cancel.hidden = item.again.hidden = true;
    } catch (error) {
      if (item.state === "sending") this.#fail(item, error);
    }
    bundle.open--;
    this.#tell();
  }

  #transfer(item, bundle) {
    const isTwin = (other) => other !== item && OPEN.includes(other.state) && isSame(other.file, item.file);
    const again = this.#items.some(isTwin);
    return new Transfer(item.file, bundle, may("fill") ? site.album : "", (news) => this.#follow(item, news), !again);
  }

  #bundle(name) {
    if (!this.#bundles.has(name)) this.#bundles.set(name, {token: name, items: new Set(), open: 0, kept: false});
    return this.#bundles.get(name);
  }

  #follow(item, {sent, seconds, error}) {
    item.again.hidden = seconds === undefined;
    if (seconds === undefined) {
      item.bar.value = sent / item.file.size;
      item.text.textContent = percent(sent, item.file.size);
    } else item.text.textContent = t("nextTry", {cause: t(LOST.has(error.status) ? "lost" : "busy"), seconds});
  }

  // Adds a bundle whose files are complete, or cancelled.
  #keepRest(bundle) {
    const isOpen = ({state}) => CANCELLABLE.includes(state);
    if (![...bundle.items].some(isOpen)) this.#keep(bundle);
  }

  // Adds the files that were sent to the originals.
  async #keep(bundle) {
    const sent = [...bundle.items].filter(({state}) => state === "sent");
    bundle.kept = true;
    this.#bundles.delete(bundle.token);
    if (!sent.length) return;
    for (const item of sent) this.#become(item, "adding", t("adding"));
    this.#tell();
    try {
      const files = new Map((await this.#add(bundle.token, sent[0].transfer.album)).map((file) => [file.token, file]));
      const stored = new Map();
      for (const item of sent) {
        const file = files.get(item.transfer.token);
        if (file?.PhotoUID) this.#link(item, file.PhotoUID);
        if (file) {
          const isUnindexed = file.status === "added" && file.indexed === false;
          this.#end(item, isUnindexed ? "stored" : file.status, file.reason);
          if (["added", "stored", "duplicate"].includes(item.state)) stored.set(file.hash, item);
        } else if (!item.file.slice) {  // the page was left before the answer arrived
          this.#end(item, "earlier");
        } else {  // another answer had it, and was lost
          item.transfer.restart();
          this.#stop(item, t("unsure"));
        }
      }
      if (sent.some(({state}) => STORED.includes(state))) this.#added();
      const {follow} = await import("./arrived.js");
      follow([...stored.keys()], (hash, uid, found) => this.#indexed(stored.get(hash), uid, found)).catch(() => {});
    } catch (error) {
      for (const item of sent) {
        if (error.status === 404) item.transfer.album = "";  // it was deleted: the next try is without it
        this.#fail(item, error, error.status === 404);
      }
    }
  }

  // Tells what indexing found about a file.
  #indexed(item, uid, found) {
    const state = item.state === "stored" ? "added" : item.state;
    if (state !== item.state) this.#added();
    this.#become(item, state, [t(state), ...found].join(" · "));
    this.#link(item, uid);
    this.#tell();
  }

  async #add(name, album) {
    for (let failures = 0; ; failures++) {
      try {
        const body = album ? {albums: [album]} : {};
        const {data} = await call(`/users/${site.user}/upload/${name}`, {method: "PUT", body});
        this.#untold = false;
        return data.files;
      } catch (error) {
        const seconds = pauseAfter(failures, error);
        this.#untold = seconds !== null && LOST.has(error.status);
        if (seconds === null) throw error;
        await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
      }
    }
  }

  #fail(item, error, later = LATER.has(error.status) || pauseAfter(0, error) !== null) {
    if (later) this.#stop(item, error.message);
    else {
      this.#end(item, "refused", error.message);
      item.transfer.cancel();
    }
  }

  #become(item, state, text) {
    item.state = item.line.className = state;
    item.text.textContent = text;
  }

  #wait(item) {
    this.#become(item, "waiting", t("waiting"));
    this.#waiting.push(item);
  }

  #stop(item, message) {
    this.#become(item, "stopped", message);
    item.again.hidden = item.cancel.hidden = false;
    if (!item.line.isConnected) this.#list.append(item.line);
    this.#tell();
  }

  #retry(item) {
    item.again.hidden = true;
    item.transfer?.hurry();
    if (item.state !== "stopped") return;
    this.#wait(item);
    this.#start();
  }

  #cancel(item) {
    if (!CANCELLABLE.includes(item.state)) return;
    const bundle = item.state === "left" && this.#bundle(item.transfer.bundle);
    this.#waiting = this.#waiting.filter((other) => other !== item);
    this.#end(item, "cancelled");
    item.transfer?.cancel();
    if (bundle) this.#keepRest(bundle);
  }

  #end(item, state, reason = "") {
    this.#become(item, state, reason ? t("because", {field: t(state), message: reason}) : t(state));
    item.transfer?.end();
    for (const part of [item.bar, item.again, item.cancel]) part.remove();
    // Of many files, only files with problems are listed.
    if (WRONG.includes(state) && !item.line.isConnected) this.#list.append(item.line);
    this.#tell();
  }
}

// Files of one name, such as a RAW and its JPEG, are added together.
const stem = (item) => item?.file.name.replace(/\.[^.]*$/, "");
const percent = (sent, size) => `${Math.floor((100 * sent) / size)} %`;
const isFull = ({items}, next) => items.size >= BUNDLE && ![...items].some((item) => stem(item) === stem(next));
const isSame = (one, other) => ["name", "size", "lastModified"].every((property) => one[property] === other[property]);
const token = () => [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0"))
  .join("");
