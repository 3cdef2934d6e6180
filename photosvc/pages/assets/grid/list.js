// The photos of a search in entries: months, or slices of equal length. Only entries near the window are loaded.

import {Failure, queryString, get, search} from "./api.js";
import {t} from "./words.js";

const KEPT = 24;
const AT_ONCE = 4;  // entries of a selection that are loaded at once
const TRIES = 3;     // to read photos of one version of the library
const AGAIN = 3000; // milliseconds
const PAUSE = 100;   // milliseconds between two entries while scrubbing

export class List extends EventTarget {
  months = [];   // [name, count] of each entry
  begins = [];   // the number of photos before each entry
  total = 0;
  version = "";
  known = new Map();    // name -> {data, promise}: the columns
  photos = new Map();   // name -> photos by position
  pending = Promise.resolve();
  torn = false;
  #last = null;
  #busy = false;
  #rest = 0;

  // The name of an entry in an address, and its pixels above the upper edge.
  placeIn(hash) { return (this.place.exec(hash) || []).slice(1); }

  // The pattern of places in addresses.
  get place() { return /^$/; }

  // Reads the version of the library, and dispatches `moved` if photos have other places.
  async adopt(_moved) {}

  // Reads the columns of an entry; null if the library changed meanwhile.
  async load(_month, _name) { return null; }

  // Loads the photos at positions of an entry.
  async need(_month, _first, _last) {}

  // Makes a change of the library. Reads wait until it has ended, then continue with the new version. `follow` returns
  // the detail of the event `moved` from the answer if the change moves photos within their months, else null.
  changing(change, follow = (_answer) => null) {
    const before = this.pending;
    const done = (async () => {
      await before;
      let moved = null;
      try {
        const answer = await change();
        moved = follow(answer);
        return answer;
      } finally {
        await this.adopt(moved).catch(() => {});
      }
    })();
    this.pending = done.then(() => {}, () => {});
    return done;
  }

  moved(detail = null) { this.dispatchEvent(new CustomEvent("moved", {detail})); }

  // The entry at a position of all photos, and the position in it.
  at(position) {
    let low = 0, high = this.begins.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.begins[middle] <= position) low = middle;
      else high = middle - 1;
    }
    return {month: low, index: position - this.begins[low]};
  }

  columns(month) { return this.known.get(this.months[month]?.[0])?.data; }

  // Whether a failure was so recent that scrolling loads nothing.
  get rests() { return this.#rest !== 0; }

  fail() {
    this.#rest ||= setTimeout(() => {
      this.#rest = 0;
      this.dispatchEvent(new CustomEvent("photos", {detail: null}));
    }, AGAIN);
  }

  // Loads the columns of an entry; then dispatches `month`.
  want(month) {
    const name = this.months[month]?.[0];
    if (!name) return Promise.resolve();
    const known = this.known.get(name);
    if (known) {
      this.known.delete(name);
      this.known.set(name, known);
      return known.promise;
    }
    if (this.rests) return Promise.resolve();
    const entry = {data: null};
    entry.promise = this.load(month, name).then((data) => {
      if (!data) {
        this.known.delete(name);
        return;
      }
      entry.data = data;
      for (const event of ["month", "photos"]) this.dispatchEvent(new CustomEvent(event, {detail: month}));
    }, () => {
      this.known.delete(name);
      this.fail();
    });
    this.known.set(name, entry);
    for (const old of this.known.keys()) {
      if (this.known.size <= KEPT) break;
      this.drop(old);
    }
    return entry.promise;
  }

  drop(name) {
    this.known.delete(name);
    this.photos.delete(name);
  }

  // During scrubbing, only the last of the requested entries is loaded next.
  wantLast(month) {
    this.#last = month;
    if (this.#busy) return;
    const next = () => {
      if (this.#last === null) {
        this.#busy = false;
        return;
      }
      const wanted = this.#last;
      this.#busy = true;
      this.#last = null;
      this.want(wanted).then(() => setTimeout(next, PAUSE));
    };
    next();
  }

  photo(month, index) { return this.photos.get(this.months[month]?.[0])?.[index]; }

  // The answer; null if the library changed, so that positions differ.
  async read(path, more) {
    for (let tries = 0; ; tries++) {
      await this.pending;
      const {version} = this, data = await get(path + queryString({...search(), ...more}));
      if (data.version === version) return data;
      await this.pending;
      if (this.version !== version && tries < TRIES) continue;
      this.torn = true;
      this.moved();
      return null;
    }
  }

  // Reads another list of the same kind by `fill`, again if the library changed meanwhile.
  async reread(fill) {
    await this.pending;
    let next;
    for (let tries = 0; (!next || next.torn) && tries < TRIES; tries++) {
      next = new (/** @type {any} */ (this.constructor))();
      await fill(next);
    }
    this.dispatchEvent(new Event("leave"));
    this.become(next);
  }

  become({months, begins, total, version, known, photos}) {
    Object.assign(this, {months, begins, total, version, known, photos});
  }

  // The photos from one position to another, both included, at most `most`. Throws a `Failure` with the status 409 if
  // the library changed meanwhile.
  async range(first, last, most) {
    const parts = [], found = [], {months} = this, end = Math.min(last + 1, first + most);
    for (let at = first; at < end;) {
      const {month, index} = this.at(at), to = Math.min(months[month][1], index + end - at);
      parts.push([month, index, to]);
      at += to - index;
    }
    while (parts.length) {
      const some = parts.splice(0, AT_ONCE);
      await Promise.all(some.map((part) => this.need(...part)));
      for (const [month, from, to] of some) for (let at = from; at < to; at++) found.push(this.photo(month, at));
      if (this.months !== months || found.includes(undefined)) throw new Failure(409, t("libraryChanged"));
    }
    return found;
  }

  // Shows changed values of photos before the library is read again. `by`: the part that shows them already.
  change(uids, values, by = null) {
    for (const list of this.photos.values()) {
      for (const photo of list) if (photo && uids.has(photo.uid)) Object.assign(photo, values);
    }
    this.dispatchEvent(new CustomEvent("changed", {detail: {uids, values, by}}));
  }
}

// Photos as a page contains them; shared albums have them as the API does.
export const unpacked = (photos) => photos.map((photo) => {
  if (!Array.isArray(photo)) return photo;
  const [uid, hash, duration, favorite, private_, turn, text] = photo;
  return {uid, hash, duration, favorite, private: private_, turn, text};
});
