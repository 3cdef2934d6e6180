// The months of the search, the columns of the months near the window, and the photos at which scrolling stops.

import {Failure, asked, get, search} from "./api.js";

const KEPT = 24, PIECE = 100, MOST = 500;
const AHEAD = 3;  // months that are read before others are replaced, at most
const AT_ONCE = 4;  // months of a selection that are asked for at once
const FAR = 5000;   // photos of a month among which one is looked for
const TRIES = 3;     // to read photos of one version while others are added
const AGAIN = 3000; // milliseconds after which what failed is asked for again
// Months with few photos stand together, so that their days share rows: those with fewer than FEW, up to TOGETHER photos.
const FEW = 8, TOGETHER = 30;

// The name of the month in an address, and the pixels of it that are above the edge: `#2012-05.120`.
export const placeIn = (hash) => (/^#(\d{4}-\d\d)(?:\.(\d+))?$/.exec(hash) || []).slice(1);

export class Timeline extends EventTarget {
  months = [];   // [name, count] of each month, or of a few that stand together, by the name of the first
  #parts = [];   // the real months of each: [name, count, photos before it in this entry]
  begins = [];   // the number of photos before each month
  total = 0;
  version = "";
  #columns = new Map();   // name -> {data, promise}
  #photos = new Map();    // name -> photos by position
  #asked = new Map();     // name -> pieces that were asked for
  #pending = Promise.resolve();
  #raw = "";
  #last = null;
  #busy = false;
  #rest = 0;
  #torn = false;  // whether an answer had another version

  // With the photos that a page came with, of which nothing else is known: positions, and how many there are.
  constructor(first = null) {
    super();
    if (!first) return;
    this.#know(first.months.map(({name, ratio}) => [name, ratio.length]));
    const photos = first.photos.map(([uid, hash, duration, favorite, private_, turn, text]) => ({uid, hash, duration, favorite, private: private_, turn, text}));
    const columns = new Map(first.months.map((month) => [month.name, month]));
    this.months.forEach(([name, count], month) => {
      const data = joined(this.#parts[month].map(([part]) => columns.get(part)));
      this.#columns.set(name, {data, promise: Promise.resolve()});
      this.#photos.set(name, photos.splice(0, count));
      this.#asked.set(name, new Map(Array.from({length: Math.ceil(count / PIECE)}, (_, piece) => [piece, Promise.resolve()])));
    });
    this.total = 0;
  }

  #know(months) {
    this.#raw = JSON.stringify(months);
    this.#parts = gathered(months);
    this.months = this.#parts.map((parts) => [parts[0][0], parts.at(-1)[2] + parts.at(-1)[1]]);
    let before = 0;
    this.begins = this.months.map(([, count]) => (before += count) - count);
    this.total = before;
  }

  // Read the whole timeline again. The photos from this one of a month on are read before anything is replaced, so that
  // they can be shown at once.
  async renew(name = "", index = 0) {
    await this.#pending;
    let next;
    for (let tries = 0; (!next || next.#torn) && tries < TRIES; tries++) {
      next = new Timeline();
      const {months, version} = await get(`/photos/timeline${asked(search())}`);
      next.#know(months);
      next.version = version;
      const reads = [], begin = Math.max(0, next.find(name));
      for (let month = begin, from = index, rest = PIECE; rest > 0 && month < begin + AHEAD && next.months[month]; month++, from = 0) {
        reads.push(next.want(month), next.need(month, from, from + rest).catch(() => {}));
        rest -= Math.max(1, next.months[month][1] - from);
      }
      await Promise.all(reads);
    }
    this.#become(next);
  }

  #become(next) {
    Object.assign(this, {months: next.months, begins: next.begins, total: next.total, version: next.version});
    this.#parts = next.#parts; this.#raw = next.#raw;
    this.#columns = next.#columns; this.#photos = next.#photos; this.#asked = next.#asked;
  }

  // Makes a change of the library: what is read meanwhile waits, and goes on with the new version. For one that moves
  // photos within their months `follow` gives, from its answer, the detail of the event `moved`; else null.
  changing(change, follow = () => null) {
    const before = this.#pending;
    const done = (async () => {
      await before;
      let moved = null;
      try {
        const answer = await change();
        moved = follow(answer);
        return answer;
      } finally { await this.#adopt(moved).catch(() => {}); }
    })();
    this.#pending = done.then(() => {}, () => {});
    return done;
  }

  async #adopt(moved) {
    const data = await get(`/photos/timeline${asked(search())}`);
    const same = JSON.stringify(data.months) === this.#raw;
    this.version = data.version;
    if (!same || moved) this.dispatchEvent(new CustomEvent("moved", {detail: moved}));
  }

  find(name) { return this.#parts.findIndex((parts) => parts.some(([month]) => month === name)); }

  // The same, or of the month with photos that is nearest to it.
  nearest(name) {
    const at = this.find(name);
    if (at >= 0 || !name) return at;
    const far = (parts) => Math.min(...parts.map(([month]) => Math.abs(number(month) - number(name))));
    return this.#parts.reduce((best, parts, month) => (best < 0 || far(parts) < far(this.#parts[best]) ? month : best), -1);
  }

  // The name of the real month of a photo.
  nameOf(month, index) { return this.#parts[month].findLast(([, , before]) => before <= index)[0]; }

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

  // After a failure nothing is asked for by scrolling until it is tried again.
  get rests() { return this.#rest !== 0; }

  #fail() {
    this.#rest ||= setTimeout(() => { this.#rest = 0; this.dispatchEvent(new CustomEvent("photos", {detail: null})); }, AGAIN);
  }

  // Loads the columns of a month; the event `month` tells when they are there.
  want(month) {
    const name = this.months[month]?.[0];
    if (!name) return Promise.resolve();
    const known = this.#columns.get(name);
    if (known) {
      this.#columns.delete(name); this.#columns.set(name, known);  // the last one used is the last one dropped
      return known.promise;
    }
    if (this.rests) return Promise.resolve();
    const entry = {data: null}, parts = this.#parts[month];
    entry.promise = (parts.length > 1 ? this.#together(name, parts) : this.#read(`/photos/timeline/${name}`, {})).then((data) => {
      if (!data) { this.#columns.delete(name); return; }
      entry.data = data;
      this.dispatchEvent(new CustomEvent("month", {detail: month}));
    }, () => { this.#columns.delete(name); this.#fail(); });
    this.#columns.set(name, entry);
    for (const old of this.#columns.keys()) {
      if (this.#columns.size <= KEPT) break;
      this.#columns.delete(old); this.#photos.delete(old); this.#asked.delete(old);
    }
    return entry.promise;
  }

  // The columns of months that stand together, which come with their photos in one request.
  async #together(name, parts) {
    const data = await this.#read(`/photos/timeline/${parts[0][0]}..${parts.at(-1)[0]}`, {});
    if (!data) return null;
    this.#photos.set(name, data.months.flatMap(({photos}) => photos));
    return joined(data.months);
  }

  // During scrubbing, only the last of the requested months is loaded next.
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
    if (this.#parts[month].length > 1) { await this.want(month); return; }
    const known = this.#asked.get(name) || this.#asked.set(name, new Map()).get(name);
    const waits = [];
    let from = Math.floor(Math.max(first, 0) / PIECE);
    const end = Math.ceil(Math.min(last, count) / PIECE);
    while (from < end) {
      if (known.has(from)) { waits.push(known.get(from)); from++; continue; }
      let to = from + 1;
      while (to < end && !known.has(to) && (to - from + 1) * PIECE <= MOST) to++;
      const promise = this.#piece(month, name, from * PIECE, Math.min(to * PIECE, count));
      for (let piece = from; piece < to; piece++) known.set(piece, promise);
      waits.push(promise);
      from = to;
    }
    await Promise.all(waits);
  }

  async #piece(month, name, from, to) {
    try {
      const data = await this.#read(`/photos/timeline/${name}/photos`, {from: String(from), n: to - from});
      if (!data) { this.#forget(name, from, to); return; }
      const list = this.#photos.get(name) || this.#photos.set(name, []).get(name);
      data.photos.forEach((photo, at) => { list[data.from + at] = photo; });
      this.dispatchEvent(new CustomEvent("photos", {detail: month}));
    } catch (error) {
      this.#forget(name, from, to);
      this.#fail();
      throw error;
    }
  }

  #forget(name, from, to) {
    const known = this.#asked.get(name);
    for (let piece = Math.floor(from / PIECE); piece * PIECE < to; piece++) known?.delete(piece);
  }

  // The answer; null if the library changed, so that positions no longer fit together.
  async #read(path, more) {
    for (let tries = 0; ; tries++) {
      await this.#pending;
      const {version} = this, data = await get(path + asked({...search(), ...more}));
      if (data.version === version) return data;
      await this.#pending;
      if (this.version !== version && tries < TRIES) continue;
      this.#torn = true;
      this.dispatchEvent(new CustomEvent("moved"));
      return null;
    }
  }

  // Every photo from one position of all to another, both included, at most `most`. A `Failure` with the status 409: the
  // library changed meanwhile, so that some could be missing.
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
      if (this.months !== months || found.includes(undefined)) throw new Failure(409, "The library has changed. Try again.");
    }
    return found;
  }

  // The position among all of a photo that is in the month of one of these names; -1: not there, or far behind in it.
  async locate(uid, names) {
    const months = new Set(names.map((name) => this.find(name)));
    for (const month of months) {
      const index = this.#photos.get(this.months[month]?.[0])?.findIndex((photo) => photo?.uid === uid) ?? -1;
      if (index >= 0) return this.begins[month] + index;
    }
    for (const month of months) {
      const last = Math.min(this.months[month]?.[1] ?? 0, FAR);
      for (let from = 0; from < last; from += MOST) {
        await this.need(month, from, from + MOST);
        const index = this.#photos.get(this.months[month]?.[0])?.findIndex((photo) => photo?.uid === uid) ?? -1;
        if (index >= 0) return this.begins[month] + index;
      }
    }
    return -1;
  }

  // Shows changed values of photos at once, before the library is read again. `by`: the part that shows them already.
  change(uids, values, by = null) {
    for (const list of this.#photos.values()) {
      for (const photo of list) if (photo && uids.has(photo.uid)) Object.assign(photo, values);
    }
    this.dispatchEvent(new CustomEvent("changed", {detail: {uids, values, by}}));
  }
}

// The months since the year 0 until the month with this name.
const number = (name) => 12 * Number(name.slice(0, 4)) + Number(name.slice(5));

// The columns of months that stand together.
const joined = (all) => (all.length === 1 ? all[0] : {
  days: all.flatMap(({days}) => days), ratio: all.flatMap(({ratio}) => ratio),
  color: all.map(({color}) => color).join(""), type: all.map(({type}) => type).join(""),
});

// The months, each alone or with the sparse ones beside it: [name, count, photos before it in the entry].
function gathered(months) {
  const found = [];
  let open = false;
  for (const [name, count] of months) {
    const last = found.at(-1), size = last ? last.at(-1)[2] + last.at(-1)[1] : 0;
    const sparse = count < FEW && name !== "0000-00";
    if (open && sparse && size + count <= TOGETHER) last.push([name, count, size]);
    else found.push([[name, count, 0]]);
    open = sparse;
  }
  return found;
}
