// The months of the search, the columns of those near the window, and the photos that somebody rests at.

import {Failure, asked, get, search} from "./api.js";

const KEPT = 12, PIECE = 100, MOST = 500;

export class Timeline extends EventTarget {
  months = [];   // [name, count]
  begins = [];   // the number of photos before each month
  total = 0;
  version = "";
  #columns = new Map();   // name -> {data, promise}
  #photos = new Map();    // name -> photos by position
  #asked = new Map();     // name -> pieces that were asked for
  #last = null;
  #busy = false;

  async load() {
    const data = await get(`/photos/timeline${asked(search())}`);
    this.months = data.months;
    this.version = data.version;
    this.total = data.total;
    let before = 0;
    this.begins = this.months.map(([, count]) => (before += count) - count);
    this.#columns.clear(); this.#photos.clear(); this.#asked.clear();
  }

  // After a change of our own that moves no photo: the state of the library is another one, the positions are not.
  async adopt() {
    const data = await get(`/photos/timeline${asked(search())}`);
    if (JSON.stringify(data.months) === JSON.stringify(this.months)) this.version = data.version;
    else this.dispatchEvent(new Event("moved"));
  }

  find(name) { return this.months.findIndex(([month]) => month === name); }

  // The month at a position of all photos, and the position in it.
  at(position) {
    let low = 0, high = this.begins.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.begins[middle] <= position) low = middle; else high = middle - 1;
    }
    return {month: low, index: position - this.begins[low]};
  }

  columns(month) { return this.#columns.get(this.months[month]?.[0])?.data; }

  // Loads the columns of a month; the event `month` tells when they are there.
  want(month) {
    const name = this.months[month]?.[0];
    if (!name) return Promise.resolve();
    const known = this.#columns.get(name);
    if (known) {
      this.#columns.delete(name); this.#columns.set(name, known);  // the last one used is the last one dropped
      return known.promise;
    }
    const entry = {data: null};
    entry.promise = this.#read(`/photos/timeline/${name}`, {}).then((data) => {
      if (!data) return;
      entry.data = data;
      this.dispatchEvent(new CustomEvent("month", {detail: month}));
    }, () => this.#columns.delete(name));
    this.#columns.set(name, entry);
    for (const old of this.#columns.keys()) {
      if (this.#columns.size <= KEPT) break;
      this.#columns.delete(old); this.#photos.delete(old); this.#asked.delete(old);
    }
    return entry.promise;
  }

  // While somebody scrubs: of the months that are asked for meanwhile, only the last one is loaded next.
  wantLast(month) {
    this.#last = month;
    if (this.#busy) return;
    const next = () => {
      if (this.#last === null) { this.#busy = false; return; }
      const wanted = this.#last;
      this.#busy = true; this.#last = null;
      this.want(wanted).then(next, next);
    };
    next();
  }

  photo(month, index) { return this.#photos.get(this.months[month]?.[0])?.[index]; }

  // Loads the photos at these positions of a month that are not there yet; the event `photos` tells when they are.
  async need(month, first, last) {
    const [name, count] = this.months[month] || [];
    if (!name) return;
    const known = this.#asked.get(name) || this.#asked.set(name, new Map()).get(name);
    const waits = [];
    let from = Math.floor(Math.max(first, 0) / PIECE);
    const end = Math.ceil(Math.min(last, count) / PIECE);
    while (from < end) {
      if (known.has(from)) { waits.push(known.get(from)); from++; continue; }
      let to = from + 1;
      while (to < end && !known.has(to) && (to - from + 1) * PIECE <= MOST) to++;
      const promise = this.#photosOf(month, name, from * PIECE, (to - from) * PIECE);
      for (let piece = from; piece < to; piece++) known.set(piece, promise);
      waits.push(promise);
      from = to;
    }
    await Promise.all(waits);
  }

  async #photosOf(month, name, from, n) {
    try {
      const data = await this.#read(`/photos/timeline/${name}/photos`, {from, n});
      if (!data) return;
      const list = this.#photos.get(name) || this.#photos.set(name, []).get(name);
      data.photos.forEach((photo, at) => { list[from + at] = photo; });
      this.dispatchEvent(new CustomEvent("photos", {detail: month}));
    } catch (error) {
      const known = this.#asked.get(name);
      for (let piece = from / PIECE; piece < (from + n) / PIECE; piece++) known?.delete(piece);
      if (error.name !== "AbortError") throw error;
    }
  }

  async #read(path, more) {
    try {
      return await get(path + asked({...search(), version: this.version, ...more}));
    } catch (error) {
      if (!(error instanceof Failure && error.status === 409)) throw error;
      this.dispatchEvent(new Event("moved"));  // the library changed: positions no longer fit together
      return null;
    }
  }

  // Every photo from one position of all to another, both included, at most `most`.
  async range(first, last, most) {
    const found = [];
    for (let at = first; at <= last && found.length < most;) {
      const {month, index} = this.at(at);
      const [, count] = this.months[month];
      const end = Math.min(count, index + last - at + 1, index + most - found.length);
      await this.need(month, index, end);
      for (let number = index; number < end; number++) {
        const photo = this.photo(month, number);
        if (photo) found.push(photo);
      }
      at = this.begins[month] + end;
    }
    return found;
  }

  // What is known of a photo changed: shown at once, before the library is asked again.
  change(uids, values) {
    for (const list of this.#photos.values()) {
      for (const photo of list) if (photo && uids.has(photo.uid)) Object.assign(photo, values);
    }
    this.dispatchEvent(new Event("changed"));
  }
}
