// What is done with the selected photos: the floating bar, and the line that takes the last action back.

import {addTo, chooseAlbum, takeOut} from "./albums.js";
import {call, may, portions, post, site} from "./api.js";
import {icon, make} from "./icons.js";
import {number, photos as counted} from "./words.js";

export const MOST = 20000;  // photos that one action takes
const MANY = 500;      // photos from which on an action that is easily seen as a loss asks first
const SHOWN = 12000;   // milliseconds that the line stands

export class Actions {
  #selection; #timeline; #grid; #bar; #count; #line; #all; #back = null; #timer = 0; #buttons = {};

  constructor(selection, timeline, grid) {
    this.#selection = selection; this.#timeline = timeline; this.#grid = grid;
    const button = (name, label, picture, action, needed) => {
      if (needed && !may(needed)) return "";
      const made = make("button", {type: "button", className: "plain", title: label, ariaLabel: label}, icon(picture));
      made.addEventListener("click", () => this.run(action));
      this.#buttons[action] = made;
      return made;
    };
    this.#count = make("span", {className: "count"});
    this.#count.setAttribute("role", "status");
    this.#all = make("button", {type: "button", className: "plain all"});
    this.#all.addEventListener("click", () => selection.all());
    this.#bar = make("div", {className: "actions", hidden: true},
      button("clear", "End the selection", "close", "clear"), this.#count, this.#all,
      button("favorite", "Favorite (f)", "heart", "favorite", "update"),
      button("private", "Private (p)", "lock", "private", "update"),
      button("album", "Add to album (l)", "album", "album", "albums"),
      button("edit", "Edit (e)", "edit", "edit", "update"),
      button("remove", "Remove from this album (Delete)", "remove", "remove", "remove"),
      button("archive", site.archive === "1" ? "Take out of the archive (a)" : "Archive (a)", "archive", "archive", "update"),
      button("download", "Download (d)", "download", "download", "download"));
    this.#bar.setAttribute("role", "toolbar");
    this.#bar.setAttribute("aria-label", "Selected photos");
    this.#line = make("div", {className: "undo", hidden: true});
    this.#line.setAttribute("role", "status");
    document.querySelector("main").append(this.#bar);
    document.body.append(this.#line);
  }

  show(total) {
    const {size} = this.#selection;
    this.#bar.hidden = size === 0;
    this.#count.replaceChildren(number(size), make("span", {textContent: " selected"}));
    this.#all.hidden = size >= Math.min(total, MOST);
    this.#all.textContent = `${total > MOST ? `First ${number(MOST)}` : `All ${number(total)}`} of this search`;
    const favorites = size > 0 && this.#selection.photos.every((photo) => photo.favorite);
    this.#buttons.favorite?.setAttribute("aria-pressed", favorites);
    const hidden = size > 0 && this.#selection.photos.every((photo) => photo.private);
    this.#buttons.private?.setAttribute("aria-pressed", hidden);
  }

  working(text) { this.#bar.hidden = false; this.#count.textContent = text; }

  async run(action) {
    if (action === "clear") { this.#selection.clear(); return; }
    const needed = {favorite: "update", private: "update", archive: "update", edit: "update", album: "albums", remove: "remove", download: "download"}[action];
    if (!may(needed)) return;
    await this.runOn(action, this.#selection.size ? this.#selection.photos : [this.#selection.focused].filter(Boolean));
  }

  async runOn(action, chosen) {
    if (!chosen.length) return;
    try {
      await this[action](chosen);
    } catch (error) {
      this.say(error.message);
    }
  }

  // Changes only those that are not so yet, so that taking it back leaves the others as they were.
  async favorite(chosen) {
    const value = !chosen.every((photo) => photo.favorite), changed = uids(chosen.filter((photo) => photo.favorite !== value));
    const set = (favorite) => this.#edit(changed, "edit", {values: {Favorite: favorite}}, {favorite});
    await set(value);
    this.say(value ? `${counted(changed.length)} made ${changed.length === 1 ? "a favorite" : "favorites"}` : `${counted(changed.length)} no longer ${changed.length === 1 ? "a favorite" : "favorites"}`, () => set(!value));
  }

  async private(chosen) {
    const value = !chosen.every((photo) => photo.private), changed = uids(chosen.filter((photo) => photo.private !== value));
    const set = (isPrivate) => this.#edit(changed, "private", {private: isPrivate}, {private: isPrivate});
    await set(value);
    this.say(value ? `${counted(changed.length)} made private` : `${counted(changed.length)} no longer private`, () => set(!value));
  }

  async archive(chosen) {
    const list = uids(chosen), back = site.archive === "1";
    const what = back ? "Take out of the archive" : "Archive";
    if (list.length >= MANY && !(await confirmed(`${what} ${counted(list.length)}?`, what))) return;
    const next = this.#next(new Set(list));
    await this.#edit(list, back ? "restore" : "archive", {});
    this.#selection.clear();
    await this.#reload(next);
    this.say(`${counted(list.length)} ${back ? "taken out of the archive" : "archived"}`, async () => {
      await this.#edit(list, back ? "archive" : "restore", {});
      await this.#reload(next);
    });
  }

  async album(chosen) {
    const album = await chooseAlbum(this.#timeline);
    if (!album) return;
    const change = (what, list) => this.#timeline.changing(() => what(album.UID, list));
    const added = await change(addTo, uids(chosen)), open = {href: site.albumpage.replace("UID", album.UID), textContent: "Open"};
    this.say(added.length ? `${counted(added.length)} added to ${album.Title}` : `${album.Title} has them all already`, added.length && (() => change(takeOut, added)), open);
  }

  async edit(chosen) {
    const {editing} = await import("./editing.js"), list = uids(chosen);
    const done = await editing(list, (change) => this.#timeline.changing(change));
    if (!done) return;
    const follow = () => this.#reload(done.moved ? chosen[0].uid : null);
    if (done.title) this.#timeline.change(new Set(list), {text: done.title});
    if (done.moved) await follow();
    this.say(done.text, done.undo && (async () => {
      const told = await done.undo();
      await follow();
      return told;
    }));
  }

  // Out of the album that the page shows.
  async remove(chosen) {
    const list = uids(chosen), next = this.#next(new Set(list));
    const gone = await takeOut(site.album, list);
    this.#selection.clear();
    await this.#reload(next);
    this.say(`${counted(gone.length)} removed from this album`, async () => {
      await addTo(site.album, gone);
      await this.#reload(next);
    });
  }

  async download(chosen) {
    const {data} = await call("/zip", {method: "POST", body: {photos: uids(chosen)}});
    const link = make("a", {href: `${site.api}/zip/${encodeURIComponent(data.filename)}`, download: ""});
    document.body.append(link);
    link.click();
    link.remove();
    this.say(`${number(data.count)} ${data.count === 1 ? "file" : "files"} in one archive`);
  }

  async undo() {
    const back = this.#back;
    if (!back) return;
    this.#back = null;
    this.#line.hidden = true;
    try {
      const told = await back();
      this.say(typeof told === "string" && told ? told : "Taken back");
    } catch (error) {
      this.say(error.message);
    }
  }

  // `back` takes the action back; `link`, the properties of a link, leads to what it made.
  say(text, back = null, link = null) {
    this.#back = back || null;
    const children = [make("span", {textContent: text})];
    if (link) children.push(make("a", link));
    if (back) {
      const button = make("button", {type: "button", className: "plain", textContent: "Undo"});
      button.addEventListener("click", () => this.undo());
      children.push(button);
    }
    this.#line.replaceChildren(...children);
    this.#line.hidden = false;
    clearTimeout(this.#timer);
    // What can be taken back stays until the next action for those who need longer; the line only moves out of the way.
    this.#timer = setTimeout(() => { this.#line.hidden = true; }, SHOWN);
  }

  async #edit(list, name, more, values = null) {
    const send = async () => { for (const portion of portions(list)) await post(`/batch/photos/${name}`, {photos: portion, ...more}); };
    if (values) {
      await this.#timeline.changing(send);
      this.#timeline.change(new Set(list), values);
    } else await send();
    this.#selection.size && this.show(this.#timeline.total);
  }

  // The first photo on the screen that stays, to which the focus goes.
  #next(gone) {
    const held = this.#grid.held;
    if (!held) return null;
    const after = [...this.#grid.tiles].filter((tile) => tile.photo && !gone.has(tile.photo.uid))
      .sort((a, b) => a.month - b.month || a.index - b.index);
    const later = after.find((tile) => tile.month > held[0] || (tile.month === held[0] && tile.index > held[1]));
    return (later || after.at(-1))?.photo.uid ?? null;
  }

  async #reload(uid) {
    this.#timeline.dispatchEvent(new CustomEvent("moved", {detail: uid}));
  }
}

const uids = (list) => list.map((photo) => photo.uid);

// Asks in a dialog; its form makes Enter and Escape work everywhere.
export function confirmed(question, yes) {
  const dialog = make("dialog", {className: "ask"}, make("p", {textContent: question}),
    make("form", {method: "dialog"}, make("button", {value: "", textContent: "Cancel"}), make("button", {value: "yes", className: "primary", textContent: yes})));
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => { dialog.remove(); resolve(dialog.returnValue === "yes"); }));
}
