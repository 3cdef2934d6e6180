// The photos of a search by time, in months: columns of shapes and colours, and photos in pieces.

import {queryString, get, search} from "./api.js";
import {List, unpacked} from "./list.js";
import {monthBrief, monthName, t} from "./words.js";

const PIECE = 100, MOST = 500;
const AHEAD = 3;  // months that are read before others are replaced, at most
const FAR = 5000;   // photos of a month that are searched for one
// Neighbouring months with fewer than FEW photos are one entry of up to TOGETHER photos, so that their days share rows.
const FEW = 8, TOGETHER = 30;

export class Timeline extends List {
  // `#2012-05.120`
  get place() { return /^#(\d{4}-\d\d)(?:\.(\d+))?$/; }
  headed = true;
  label = t("month");
  // The months of each entry, which has the name of the first: [name, count, photos before it in this entry].
  #parts = [];
  #asked = new Map();     // name -> requested pieces
  #raw = "";

  // Begins with the photos of the page, whose positions and total are not known yet.
  begin(first) {
    this.#know(first.months.map(({name, ratio}) => [name, ratio.length]));
    const photos = unpacked(first.photos), columns = new Map(first.months.map((month) => [month.name, month]));
    this.months.forEach(([name, count], month) => {
      const data = joined(this.#parts[month].map(([part]) => columns.get(part)));
      this.known.set(name, {data, promise: Promise.resolve()});
      this.photos.set(name, photos.splice(0, count));
      this.#asked.set(name,
        new Map(Array.from({length: Math.ceil(count / PIECE)}, (_, piece) => [piece, Promise.resolve()])));
    });
    this.total = 0;
  }

  complete(name) { return this.renew(name); }

  told(month) { return monthName(this.months[month][0]); }
  brief(month, index) { return monthBrief(this.nameOf(month, index)); }
  part(month) { return this.months[month][0].slice(0, 4); }

  #know(months) {
    this.#raw = JSON.stringify(months);
    this.#parts = gathered(months);
    this.months = this.#parts.map((parts) => [parts[0][0], parts.at(-1)[2] + parts.at(-1)[1]]);
    let before = 0;
    this.begins = this.months.map(([, count]) => (before += count) - count);
    this.total = before;
  }

  // Reads the whole timeline again. Photos from `index` of a month on are read first, so that they are shown at once.
  async renew(name = "", index = 0) {
    await this.reread(async (list) => {
      const {months, version} = await get(`/photos/timeline${queryString(search())}`);
      list.#know(months);
      list.version = version;
      const reads = [], begin = list.spot(name).month, end = Math.min(begin + AHEAD, list.months.length);
      let from = index, rest = PIECE;
      for (let month = begin; rest > 0 && month < end; month++) {
        reads.push(list.want(month), list.need(month, from, from + rest).catch(() => {}));
        rest -= Math.max(1, list.months[month][1] - from);
        from = 0;
      }
      await Promise.all(reads);
    });
  }

  become(next) {
    super.become(next);
    this.#parts = next.#parts;
    this.#raw = next.#raw;
    this.#asked = next.#asked;
  }

  async adopt(moved) {
    const data = await get(`/photos/timeline${queryString(search())}`);
    const same = JSON.stringify(data.months) === this.#raw;
    this.version = data.version;
    if (!same || moved) this.moved(moved);
  }

  find(name) { return this.#parts.findIndex((parts) => parts.some(([month]) => month === name)); }

  // The place of a month, or the beginning of the nearest one; without a name the first place.
  spot(name = "", above) {
    let found = {month: 0}, least = name ? Infinity : -1;
    this.#parts.forEach((parts, month) => parts.forEach(([part, , index]) => {
      const far = Math.abs(number(part) - number(name));
      if (far <= least) {
        least = far;
        found = index ? {month, index} : {month, offset: far ? 0 : Number(above)};
      }
    }));
    return found;
  }

  // The name of the real month of a photo.
  nameOf(month, index) { return this.#parts[month].findLast(([, , before]) => before <= index)[0]; }

  load(month, name) {
    const parts = this.#parts[month];
    return parts.length > 1 ? this.#together(name, parts) : this.read(`/photos/timeline/months/${name}`, {});
  }

  drop(name) {
    super.drop(name);
    this.#asked.delete(name);
  }

  // The columns of an entry of several months, which come with their photos in one request.
  async #together(name, parts) {
    const data = await this.read(`/photos/timeline/between/${parts[0][0]}/${parts.at(-1)[0]}`, {});
    if (!data) return null;
    this.photos.set(name, data.months.flatMap(({photos}) => photos));
    return joined(data.months);
  }

  // Loads missing photos at positions of a month, then dispatches `photos`.
  async need(month, first, last) {
    const [name, count] = this.months[month] || [];
    if (!name) return;
    if (this.#parts[month].length > 1) {
      await this.want(month);
      return;
    }
    const known = this.#asked.get(name) || this.#asked.set(name, new Map()).get(name);
    const waits = [];
    let from = Math.floor(Math.max(first, 0) / PIECE);
    const end = Math.ceil(Math.min(last, count) / PIECE);
    while (from < end) {
      if (known.has(from)) {
        waits.push(known.get(from));
        from++;
        continue;
      }
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
      const data = await this.read(`/photos/timeline/months/${name}/photos`, {from: String(from), n: to - from});
      if (!data) {
        this.#forget(name, from, to);
        return;
      }
      const list = this.photos.get(name) || this.photos.set(name, []).get(name);
      data.photos.forEach((photo, at) => { list[data.from + at] = photo; });
      this.dispatchEvent(new CustomEvent("photos", {detail: month}));
    } catch (error) {
      this.#forget(name, from, to);
      this.fail();
      throw error;
    }
  }

  #forget(name, from, to) {
    const known = this.#asked.get(name);
    for (let piece = Math.floor(from / PIECE); piece * PIECE < to; piece++) known?.delete(piece);
  }

  // The position among all of a photo in one of the named months; -1 if it is not among their first photos.
  async locate(uid, names) {
    const months = new Set(names.map((name) => this.find(name)));
    for (const month of months) {
      const index = this.photos.get(this.months[month]?.[0])?.findIndex((photo) => photo?.uid === uid) ?? -1;
      if (index >= 0) return this.begins[month] + index;
    }
    for (const month of months) {
      const last = Math.min(this.months[month]?.[1] ?? 0, FAR);
      for (let from = 0; from < last; from += MOST) {
        await this.need(month, from, from + MOST);
        const index = this.photos.get(this.months[month]?.[0])?.findIndex((photo) => photo?.uid === uid) ?? -1;
        if (index >= 0) return this.begins[month] + index;
      }
    }
    return -1;
  }
}

// The number of months from the year 0 to a month.
const number = (name) => 12 * Number(name.slice(0, 4)) + Number(name.slice(5));

// The columns of an entry.
const joined = (all) => (all.length === 1 ? all[0] : {
  days: all.flatMap(({days}) => days), ratio: all.flatMap(({ratio}) => ratio),
  color: all.map(({color}) => color).join(""), type: all.map(({type}) => type).join(""),
});

// The months in entries: [name, count, photos before it in the entry].
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
