// The photos of a search in an order other than by time, in slices of equal length. The service counts from the cursor
// after the nearest slice that was read before, so that scrolling costs the same at any depth.

import {Failure, SEQUENCE, queryString, get, search, site} from "./api.js";
import {List, unpacked} from "./list.js";
import {t} from "./words.js";

const LENGTH = 120;  // the number of photos in a page
const MOST = 480;    // photos of a selection in one request
const PARTS = 10;
// Orders in which a changed photo may get another place.
const MOVING = /^-?(edited|updated|title|relevance|archived)$/;

export class Sequence extends List {
  // `#241.80`: the slice that begins with this photo, counted from 1
  get place() { return /^#(\d+)(?:\.(\d+))?$/; }
  headed = false;
  label = t("position");
  #cursors = new Map([[0, ""]]);  // by the position after each

  begin(first) {
    this.version = first.version;
    this.#know(first.total);
    this.#take(0, {...first, photos: unpacked(first.photos)});
    // Shuffled photos stay in their order when the page is loaded again.
    const query = new URLSearchParams(location.search);
    if (!site.seed || query.has("seed")) return;
    query.set("seed", site.seed);
    history.replaceState(history.state, "", `${location.pathname}?${query}${location.hash}`);
  }

  async complete(name) { if (!this.total) await this.renew(name); }

  #know(total) {
    this.total = total;
    this.begins = Array.from({length: Math.ceil(total / LENGTH)}, (_, slice) => slice * LENGTH);
    this.months = this.begins.map((from) => [String(from + 1), Math.min(LENGTH, total - from)]);
  }

  // Stores an answer that begins with a slice.
  #take(from, data) {
    for (let at = 0; at < data.photos.length; at += LENGTH) {
      const name = String(from + at + 1);
      this.photos.set(name, data.photos.slice(at, at + LENGTH));
      this.known.set(name, {data: part(data, at), promise: Promise.resolve()});
    }
    if (data.next) this.#cursors.set(from + data.photos.length, data.next);
  }

  // The parameters to read from a position on.
  #from(position) {
    let nearest = 0;
    for (const known of this.#cursors.keys()) if (known <= position && known > nearest) nearest = known;
    return {from: String(position), cursor: this.#cursors.get(nearest)};
  }

  async load(month, name) {
    const data = await this.read(SEQUENCE, {...this.#from(this.begins[month]), n: LENGTH});
    if (!data) return null;
    this.photos.set(name, data.photos);
    if (data.next) this.#cursors.set(this.begins[month] + data.photos.length, data.next);
    return part(data, 0);
  }

  need(month) { return this.want(month); }

  // Reads a slice and the next one of the present library.
  renew(name = "") {
    return this.reread(async (list) => {
      const from = LENGTH * Math.max(0, this.#sliceOf(name));
      const data = await get(SEQUENCE + queryString({...search(), from: String(from), n: 2 * LENGTH, total: true}));
      list.version = data.version;
      list.#know(data.total);
      list.#take(from, data);
      if (!data.photos.length && data.total) await list.want(list.months.length - 1);
    });
  }

  become(next) {
    super.become(next);
    this.#cursors = next.#cursors;
  }

  async adopt(moved) {
    const {total, version} = await get(SEQUENCE + queryString({...search(), n: 1, total: true}));
    this.version = version;
    if (moved || total !== this.total || MOVING.test(search().order)) this.moved(moved);
  }

  #sliceOf(name) { return Math.floor((Number(name) - 1) / LENGTH); }
  find(name) {
    const at = this.#sliceOf(name);
    return this.months[at]?.[0] === name ? at : -1;
  }
  spot(name, above) {
    const month = Math.min(Math.max(this.#sliceOf(name) || 0, 0), this.months.length - 1);
    return {month, offset: this.find(name) < 0 ? 0 : Number(above)};
  }

  nameOf() { return "0000-00"; }
  told(month) { return this.brief(month, 0); }
  brief(month, index) { return t("of", {at: this.begins[month] + index + 1, total: this.total}); }
  part(month) { return Math.floor((PARTS * month) / this.months.length); }

  async range(first, last, most) {
    const found = [], {version} = this, end = Math.min(last + 1, first + most);
    while (first + found.length < end) {
      const at = first + found.length, n = Math.min(MOST, end - at);
      const data = await get(SEQUENCE + queryString({...search(), ...this.#from(at), n, version}));
      if (!data.photos.length) throw new Failure(409, t("libraryChanged"));
      found.push(...data.photos);
      if (data.next) this.#cursors.set(first + found.length, data.next);
    }
    return found;
  }

  async locate(uid) {
    for (const [name, list] of this.photos) {
      const index = list.findIndex((photo) => photo.uid === uid);
      if (index >= 0) return Number(name) - 1 + index;
    }
    const data = await this.read(SEQUENCE, {locate: uid, n: 1}).catch(() => null);
    return data ? data.from : -1;
  }
}

// The columns of a slice that begins at a number of an answer.
const part = ({ratio, color, type}, from) => {
  const own = [ratio, color, type].map((column) => column.slice(from, from + LENGTH));
  return {days: [[0, own[0].length]], ratio: own[0], color: own[1], type: own[2]};
};
