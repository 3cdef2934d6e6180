// Actions on the selected photos, or on the photo in the viewer.

import {call, may, portions, post, site, thumbnail} from "./api.js";
import {make} from "./elements.js";
import {Line} from "./line.js";
import {locale, t} from "./words.js";

const MANY = 500;      // photos from which on archiving asks first
const SHOWN = 50;      // photos that a link to restored ones names
const IN_ARCHIVE = site.archive === "1";
// The right that an action needs, and its button.
const about = (right, label, picture, isHidden = false) => ({right, label: t(label), picture, isHidden});
// Actions by their names, in the order of their buttons.
export const ACTIONS = {
  favorite: about("update", "favoriteKey", "heart"),
  private: about("update", "privateKey", "lock"),
  album: about("albums", "albumKey", "add-to-album"),
  share: about("share", "shareKey", "share"),
  edit: about("update", "editKey", "edit"),
  stack: about("update", "stack", "stack"),
  cover: about("cover", "coverKey", "cover"),
  top: about("arrange", "topKey", "top"),
  remove: about("remove", "removeKey", "remove"),
  approve: about("update", "approve", "check", !site.review),
  archive: about("update", IN_ARCHIVE ? "unarchiveKey" : "archiveKey", "archive"),
  delete: about("delete", may("remove") ? "delete" : "deleteKey", "bin"),
  restore: about("restore", "restoreKey", "restore"),
  purge: about("purge", "deleteNow", "bin"),
  takeout: about("takeout", "takeOut", "remove"),
  download: about("download", "downloadKey", "download"),
};
const ASKING = new Set(["album", "share", "edit", "delete", "purge"]);  // these open a dialog, one at a time

export class Actions {
  #timeline; #grid; #done;
  #asking = false;
  line = new Line();

  // `done` is called when selected photos have left the page.
  constructor(timeline, grid, done) {
    this.#timeline = timeline;
    this.#grid = grid;
    this.#done = done;
  }

  say(...told) { this.line.say(...told); }
  undo() { return this.line.undo(); }

  // Runs an action on photos, if the user may.
  async run(action, chosen) {
    if (!chosen.length || !may(ACTIONS[action].right) || (ASKING.has(action) && this.#asking)) return;
    if (ASKING.has(action)) this.#asking = true;
    await this.line.after(() => this[action](chosen));
    if (ASKING.has(action)) this.#asking = false;
  }

  favorite(chosen) {
    return this.#mark(chosen, "favorite", "edit", (favorite) => ({values: {Favorite: favorite}}),
      (num, favorite) => t(favorite ? "favored" : "unfavored", {num}));
  }

  private(chosen) {
    return this.#mark(chosen, "private", "private", (isPrivate) => ({private: isPrivate}),
      (num, isPrivate) => t(isPrivate ? "hid" : "unhid", {num}));
  }

  // Changes only the photos that differ, so that undo leaves the others unchanged.
  async #mark(chosen, mark, batch, body, told) {
    const value = !chosen.every((photo) => photo[mark]), list = uids(chosen.filter((photo) => photo[mark] !== value));
    const set = async (some, now) => {
      const result = await this.#timeline.changing(() => send(some, batch, body(now)));
      if (result.partly) this.#follow(null);
      else this.#timeline.change(new Set(result.sent), {[mark]: now});
      return result;
    };
    const result = await set(list, value);
    this.say(asFar(told(result.partly ? result.count : result.sent.length, value), result),
      async () => whole(await set(result.sent, !value)));
  }

  // Gives photos this number of stars; 0 takes them away.
  rate(chosen, stars) {
    if (!chosen.length || !may("update")) return null;
    return this.line.after(async () => {
      const {send: edit} = await import("./editing.js"), list = uids(chosen), shown = new Set(list);
      const changing = async (change) => {
        const told = await this.#timeline.changing(change);
        this.#timeline.change(shown, {});
        return told;
      };
      const {undo} = await edit(list, {values: {Rating: stars}}, changing);
      this.say(t(stars ? "rated" : "unrated", {num: list.length, stars: "★".repeat(stars)}), undo);
    });
  }

  async archive(chosen) {
    const list = uids(chosen), back = site.archive === "1", to = back ? "restore" : "archive",
      from = back ? "archive" : "restore";
    const what = t(back ? "unarchive" : "archive");
    if (list.length >= MANY && !(await confirmed(t(back ? "askUnarchive" : "askArchive", {num: list.length}), what)))
      return;
    const next = this.#next(new Set(list)), result = await send(list, to, {});
    this.#gone(next);
    this.say(asFar(t(back ? "unarchived" : "archived", {num: result.count}), result), async () => {
      const restored = await send(result.sent, from, {});
      this.#follow(next);
      return whole(restored);
    });
  }

  async approve(chosen) {
    const list = uids(chosen), next = this.#next(new Set(list)), result = await send(list, "approve", {});
    this.#gone(next);
    this.say(asFar(t("approved", {num: result.count}), result));
  }

  // Deleted photos can be restored: from the trash, or from the originals if these are not deleted.
  async delete(chosen) {
    const list = uids(chosen), days = Number(site.trashdays), trash = site.deletes === "trash";
    const last = new Date(Date.now() + days * 86400e3).toLocaleDateString(locale, {dateStyle: "long"});
    const becomes = t(!trash ? "originalsStay" : days ? "trashUntil" : "trashKept", {day: last});
    if (!(await confirmed(`${t("askDelete", {num: list.length})} ${becomes}`, t("delete"), true))) return;
    const next = this.#next(new Set(list)), result = await send(list, "delete", {});
    this.#gone(next);
    this.say(asFar(t(trash ? "trashed" : "deleted", {num: result.count}), result), may("untrash") && (async () => {
      const told = await (await import("./trash.js")).restore(result);
      this.#follow(next);
      return told;
    }));
  }

  async album(chosen) {
    const {addTo, chooseAlbum, takeOut} = await import("./albums.js"), album = await chooseAlbum(this.#timeline);
    if (!album) return;
    const change = (what, list) => this.#timeline.changing(() => what(album.UID, list));
    const added = await change(addTo, uids(chosen)),
      open = {href: site.albumpage.replace("UID", album.UID), textContent: t("open")};
    this.say(t(added.length ? "addedTo" : "hasAll", {num: added.length, album: album.Title}),
      added.length && (() => change(takeOut, added)), open);
  }

  // Makes a link to photos, which become an album.
  async share(chosen) {
    const {sharing} = await import("./sharing.js"), shared = await sharing(uids(chosen), this.#timeline);
    if (shared) this.say(shared.text, shared.undo, {href: shared.address, textContent: t("open")});
  }

  async edit(chosen) {
    const {editing} = await import("./editing.js"), list = uids(chosen);
    const done = await editing(list, (change) => this.#timeline.changing(change));
    if (!done) return;
    const follow = () => this.#follow(done.moved ? chosen[0].uid : null);
    if (done.title) this.#timeline.change(new Set(list), {text: done.title});
    if (done.moved) follow();
    this.say(done.text, done.undo && (async () => {
      const told = await done.undo();
      follow();
      return told;
    }));
  }

  // Puts photos together into the first one.
  async stack(chosen) {
    const photos = uids(chosen), [first] = photos;
    const {photos: num, change} = await post("/batch/photos/stack", {photos});
    this.#gone(first);
    this.say(t("stacked", {num}), async () => {
      await post("/batch/photos/undo", {photos: [first], change});
      this.#follow(first);
    });
  }

  // Makes a photo the cover of the album of the page.
  async cover([photo]) {
    const path = `/albums/${site.album}`, {data: before} = await call(path);
    const choose = (Thumb, shown) => this.#timeline.changing(async () => {
      await call(path, {method: "PUT", body: {Thumb}});
      const image = document.querySelector(".cover > img");
      image?.removeAttribute("srcset");
      if (image) image.src = thumbnail(shown, "fit_1280");
    });
    await choose(photo.hash, photo);
    this.say(t("coverChanged"), () => choose(before.ThumbSrc === "manual" ? before.Thumb : "", {hash: before.Thumb}));
  }

  // Moves photos to the beginning of the album of the page.
  async top(chosen) {
    const {arrange} = await import("./arranging.js");
    this.#done();
    this.say(...await arrange(this.#timeline, uids(chosen), {before: null}));
  }

  // Removes photos from the album of the page.
  async remove(chosen) {
    const {addTo, takeOut} = await import("./albums.js"), list = uids(chosen), next = this.#next(new Set(list));
    const gone = await takeOut(site.album, list);
    this.#gone(next);
    this.say(t("removed", {num: gone.length}), async () => {
      await addTo(site.album, gone);
      this.#follow(next);
    });
  }

  // Brings photos back from the trash.
  async restore(chosen) {
    const list = uids(chosen), next = this.#next(new Set(list)), {restore} = await import("./trash.js");
    const told = await restore({sent: list});
    this.#gone(next);
    const where = {href: `${site.photos}?q=uid:${list.slice(0, SHOWN).join("|")}`, textContent: t("show")};
    this.say(told || t("restored", {num: list.length}), async () => {
      const deleted = await send(list, "delete", {});
      this.#follow(next);
      return whole(deleted);
    }, where);
  }

  async purge(chosen) {
    const list = uids(chosen), next = this.#next(new Set(list));
    if (!(await confirmed(t("askPurge", {num: list.length}), t("deleteNow"), true))) return;
    const {purge} = await import("./trash.js");
    try {
      await purge(list);
    } finally {
      this.#gone(next);
    }
    this.say(t("purged", {num: list.length}));
  }

  // Takes own photos out of an album that others share.
  async takeout(chosen) {
    for (const {uid} of chosen.filter(({own}) => own)) await post(`/picture/${uid}/take-out`);
    this.#gone(this.#next(new Set(uids(chosen))));
    this.say(t("removed", {num: chosen.length}));
  }

  // Visitors get one original by its address, and several by a form.
  #downloadShared(chosen) {
    const [{hash}] = chosen, one = make("a", {href: site.original.replace("HASH", hash), download: "", hidden: true});
    const fields = uids(chosen).map((value) => make("input", {type: "hidden", name: "photo", value}));
    const form = make("form", {method: "post", action: site.zip, hidden: true}, ...fields);
    document.body.append(one, form);
    if (chosen.length > 1) form.submit();
    else one.click();
    one.remove();
    form.remove();
  }

  async download(chosen) {
    if (site.visitor) {
      this.#downloadShared(chosen);
      return;
    }
    const {data} = await call("/zip", {method: "POST", body: {photos: uids(chosen)}});
    const link = make("a", {href: `${site.api}/zip/${encodeURIComponent(data.filename)}`, download: ""});
    document.body.append(link);
    link.click();
    link.remove();
    const details = {href: `${link.href}?details=true`, download: "", textContent: t("withDetails")};
    this.say(t("packed", {num: data.count}), null, details);
  }

  // The remaining photo that gets the focus.
  #next(gone) {
    const held = this.#grid.held;
    if (!held) return null;
    const after = [...this.#grid.tiles].filter((tile) => tile.photo && !gone.has(tile.photo.uid))
      .sort((a, b) => a.month - b.month || a.index - b.index);
    const later = after.find((tile) => tile.month > held[0] || (tile.month === held[0] && tile.index > held[1]));
    return (later || after.at(-1))?.photo.uid ?? null;
  }

  #gone(next) {
    this.#done();
    this.#follow(next);
  }

  // Shows the changed library, with the focus on a photo.
  #follow(next) { this.#timeline.moved({next}); }
}

const uids = (list) => list.map((photo) => photo.uid);
const confirmed = async (...asked) => (await import("./dialog.js")).confirmed(...asked);

// Sends a batch in portions until an error. Returns the `sent` photos, the number of changed ones (`count`), the error
// (`wrong`), the number of unchanged ones (`rest`), and the changed ones of the failed portion (`partly`). Throws the
// error if nothing was changed.
async function send(list, batch, more) {
  const sent = [];
  let count = 0;
  for (const photos of portions(list)) {
    try {
      count += (await post(`/batch/photos/${batch}`, {photos, ...more})).photos;
    } catch (error) {
      const partly = error.done?.photos ?? 0, rest = list.length - sent.length - partly;
      if (!sent.length && !partly) throw error;
      return {sent: partly ? [...sent, ...photos] : sent, count: count + partly, wrong: error, rest, partly};
    }
    sent.push(...photos);
  }
  return {sent, count, wrong: null, rest: 0, partly: 0};
}

const asFar = (text, {wrong, rest}) => (wrong ? t("butNot", {text, rest, error: wrong.message}) : text);
const whole = (result) => (result.wrong ? asFar(t("undone"), result) : "");
