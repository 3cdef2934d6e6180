// Photos in entries, months or stretches, of which those near the window are loaded; a list also names its places.

import {Failure, queryString, get, search} from "./api.js";
import {t} from "./words.js";

const KEPT = 24;
const AT_ONCE = 4;  // entries of a selection that are asked for at once
const TRIES = 3;     // to read photos of one version while others are added
const AGAIN = 3000; // milliseconds
const PAUSE = 100;   // milliseconds between two entries during scrubbing, which would cost a frame each

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

  // The name of an entry in an address, and the pixels of it that are above the edge.
  placeIn(hash) { return (this.place.exec(hash) || []).slice(1); }

  // The pattern of places in addresses.
  get place() { return /^$/; }

  // Reads the version of the library, and dispatches `moved` if photos have other places.
  async adopt(_moved) {}

  // Reads the columns of an entry; null if the library changed meanwhile.
  async load(_month, _name) { return null; }

  // Loads the photos at positions of an entry.
  async need(_month, _first, _last) {}

  // Makes a change of the library: what is read meanwhile waits, and goes on with the new version. For one that moves
  // photos within their months `follow` gives, from its answer, the detail of the event `moved`; for
  // others null.
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

  // After a failure nothing is asked for by scrolling until it is tried again.
  get rests() { return this.#rest !== 0; }

  fail() {
    this.#rest ||= setTimeout(() => {
      this.#rest = 0;
      this.dispatchEvent(new CustomEvent("photos", {detail: null}));
    }, AGAIN);
  }

  // Loads the columns of an entry; the event `month` tells when they are there.
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

  // The answer; null if the library changed, so that positions no longer fit together.
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

  // Another list of the same kind, read by `fill` until all of it has one version.
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

  // Every photo from one position of all to another, both included, at most `most`. A `Failure` with the status 409:
  // the library changed meanwhile, so that some could be missing.
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

  // Shows changed values of photos at once, before the library is read again. `by`: the part that shows them already.
  change(uids, values, by = null) {
    for (const list of this.photos.values()) {
      for (const photo of list) if (photo && uids.has(photo.uid)) Object.assign(photo, values);
    }
    this.dispatchEvent(new CustomEvent("changed", {detail: {uids, values, by}}));
  }
}

// Photos as a page came with them.
export const unpacked = (photos) =>
  photos.map(([uid, hash, duration, favorite, private_, turn, text]) =>
  ({uid, hash, duration, favorite, private: private_, turn, text}));
