// The months around the place that somebody looks at: a few of them stand in the page, which scrolls natively, and only
// the tiles near the screen are elements. The truth is a month and the pixels inside of it, so that no length of a
// library reaches the highest page that browsers can show.

import {thumbnail, photoPage} from "./api.js";
import {icon, make} from "./icons.js";
import {guessHeight, layOut} from "./rows.js";
import {dayName, dayPlain, photos, playing} from "./words.js";

const SPARE = 3;  // screens of months on each side when the window is built; less than one is left when it is built anew
const REST = 90;  // milliseconds without movement after which pictures are loaded
const TYPES = ["", "RAW", "Live", "", "GIF", "", "", ""];
const VIDEO = "3", LIVE = "2";

export class Window extends EventTarget {
  #root; #timeline; #box; #first = 0; #tops = []; #heights = []; #layouts = new Map(); #sections = new Map();
  #days = new Map(); #tiles = new Map(); #spare = []; #frame = 0; #timer = 0; #moved = 0; #scroll = 0; #marks = []; #base = 0; #size; #fast = false;
  #held = null;  // the tile that keyboard users are at: [month, index]
  decorate = () => {};  // (tile, photo): marks of the selection
  top = 64;  // pixels at the upper edge of the screen below which photos are seen

  constructor(root, timeline) {
    super();
    this.#root = root;
    this.#timeline = timeline;
    this.#box = make("div", {className: "months"});
    root.replaceChildren(this.#box);
    root.classList.add("live");
    this.#measure();
    addEventListener("scroll", () => this.#scrolled(), {passive: true});
    new ResizeObserver(() => this.#resize()).observe(root);
    new ResizeObserver(() => this.#find()).observe(document.body);
    this.#find();
    timeline.addEventListener("month", ({detail}) => this.#arrived(detail));
    timeline.addEventListener("photos", () => this.#schedule());
    timeline.addEventListener("changed", () => this.refresh());
  }

  #measure() {
    const style = getComputedStyle(this.#root), phone = innerWidth < 700;
    this.#size = {
      width: this.#root.clientWidth, row: parseFloat(style.getPropertyValue("--row")) || 220,
      gap: parseFloat(style.getPropertyValue("--gap")) || 4, between: phone ? 12 : 24, head: phone ? 46 : 38, after: phone ? 14 : 20,
    };
  }

  #resize() {
    if (this.#root.clientWidth === this.#size.width) return;
    const place = this.place();
    this.#measure();
    this.#layouts.clear();
    this.goTo(place.month, place.offset * (this.#height(place.month) / (place.height || 1)));
  }

  #layout(month) {
    const columns = this.#timeline.columns(month);
    if (!columns) return null;
    let known = this.#layouts.get(month);
    if (!known || known.columns !== columns) {
      known = layOut(columns, this.#size);
      known.columns = columns;
      this.#layouts.delete(month);
      this.#layouts.set(month, known);
      for (const old of this.#layouts.keys()) {
        if (this.#layouts.size <= 12) break;
        if (old < this.#first || old >= this.#first + this.#tops.length) this.#layouts.delete(old); else break;
      }
    }
    return known;
  }

  #height(month) {
    return this.#layout(month)?.height ?? guessHeight(this.#timeline.months[month][1], this.#size);
  }

  // Where the months begin in the page. Asking for it lays the page out, which frames cannot afford.
  #find() {
    this.#scroll = scrollY;
    this.#base = this.#box.getBoundingClientRect().top + this.#scroll;
  }

  // The month at the upper edge, the pixels of it that are above, and its height.
  place() {
    const at = Math.max(0, this.#scroll - this.#base + this.top);
    let number = 0;
    while (number + 1 < this.#tops.length && this.#tops[number + 1] <= at) number++;
    return {month: this.#first + number, offset: at - (this.#tops[number] ?? 0), height: this.#heights[number] || 1};
  }

  // Shows this place of a month: pixels inside of it.
  goTo(month, offset, fast = false) {
    this.#fast = fast;
    this.#build(month, offset);
  }

  // The same with a share of its height, while somebody scrubs.
  goToShare(month, share) { this.goTo(month, share * this.#height(month), true); }

  #build(month, offset) {
    const last = this.#timeline.months.length - 1, room = innerHeight * SPARE;
    month = Math.min(Math.max(month, 0), last);
    offset = Math.min(Math.max(offset, 0), Math.max(0, this.#height(month) - 1));
    let first = month, end = month, above = offset, below = this.#height(month) - offset;
    while (first > 0 && above < room) above += this.#height(--first);
    while (end < last && below < room) below += this.#height(++end);
    this.#first = first;
    this.#tops = []; this.#heights = [];
    let top = 0;
    for (let number = first; number <= end; number++) {
      const height = this.#height(number);
      this.#tops.push(top); this.#heights.push(height);
      top += height;
    }
    this.#box.style.height = `${Math.max(top, 1)}px`;
    for (const [number, section] of this.#sections) {
      if (number < first || number > end) { this.#drop(number); section.remove(); this.#sections.delete(number); }
    }
    for (let number = first; number <= end; number++) {
      let section = this.#sections.get(number);
      if (!section) {
        section = make("section", {className: "month"});
        this.#sections.set(number, section);
        this.#box.append(section);
      }
      section.style.top = `${this.#tops[number - first]}px`;
      section.style.height = `${this.#heights[number - first]}px`;
    }
    const inside = this.#tops[month - first] + offset;
    const wanted = first === 0 && inside === 0 ? 0 : Math.max(0, Math.round(this.#base + inside - this.top));
    if (Math.abs(wanted - this.#scroll) >= 1) scrollTo(0, wanted);
    this.#scroll = wanted;
    this.#marks = [];
    this.#render();
    this.#rest();
  }

  #arrived(month) {
    const number = month - this.#first;
    if (number < 0 || number >= this.#tops.length) return;
    const {month: here, offset, height} = this.place();
    this.#drop(month);
    // Inside of the month that arrived, the share of it that was passed stays.
    this.#build(here, here === month ? (offset / height) * this.#height(month) : offset);
  }

  #scrolled() {
    this.#scroll = scrollY;
    // Pictures wait while more than seven screens pass in a second.
    const now = performance.now();
    this.#marks = this.#marks.filter(([time]) => now - time < 140);
    this.#marks.push([now, this.#scroll]);
    if (Math.abs(this.#scroll - this.#marks[0][1]) > innerHeight) this.#fast = true;
    this.#schedule();
  }

  #schedule() {
    if (!this.#frame) this.#frame = requestAnimationFrame(() => { this.#frame = 0; this.#step(); });
  }

  #step() {
    const at = this.#scroll - this.#base, end = this.#tops.at(-1) + this.#heights.at(-1);
    const {month, offset} = this.place(), last = this.#first + this.#tops.length - 1;
    if ((at < innerHeight && this.#first > 0) || (end - at < innerHeight * 2 && last < this.#timeline.months.length - 1)) {
      this.#build(month, offset);
    } else {
      this.#render();
      this.#rest();
    }
    this.dispatchEvent(new CustomEvent("move", {detail: this.place()}));
  }

  #rest() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#fast = false;
      this.#find();
      this.#render();
      this.dispatchEvent(new CustomEvent("rest", {detail: this.place()}));
    }, REST);
  }

  refresh() {
    for (const tile of this.#tiles.values()) tile.shown = "";
    this.#render();
  }

  // The tiles on the screen and next to it: elements appear and disappear, and are used again.
  #render() {
    const at = this.#scroll - this.#base, spare = this.#fast ? 0 : innerHeight * 0.6;
    const upper = at - spare, lower = at + innerHeight + spare;
    const wanted = new Map(), days = new Map();
    for (let number = 0; number < this.#tops.length; number++) {
      const top = this.#tops[number], month = this.#first + number;
      if (top > lower || top + this.#heights[number] < upper) continue;
      const laid = this.#layout(month);
      if (!laid) {
        if (this.#fast) this.#timeline.wantLast(month); else this.#timeline.want(month);
        continue;
      }
      for (let day = firstBelow(laid.days, upper - top); day < laid.days.length; day++) {
        const box = laid.days[day];
        if (box.top + top > lower) break;
        if (box.top + box.height + top < upper) continue;
        days.set(`${month}:${day}`, [month, day, box]);
        for (let index = firstTile(laid, box, upper - top - box.top); index < box.last; index++) {
          if (laid.y[index] + box.top + top > lower) break;
          wanted.set(`${month}:${index}`, [month, index, day]);
        }
      }
    }
    if (this.#held) {
      const [month, index] = this.#held, laid = this.#sections.has(month) && this.#layout(month);
      const day = laid ? laid.days.findIndex((box) => index >= box.first && index < box.last) : -1;
      if (day >= 0) {
        wanted.set(`${month}:${index}`, [month, index, day]);
        days.set(`${month}:${day}`, [month, day, laid.days[day]]);
      }
    }
    for (const [key, tile] of this.#tiles) if (!wanted.has(key)) this.#release(key, tile);
    for (const [key, day] of this.#days) if (!days.has(key)) { day.remove(); this.#days.delete(key); }
    for (const [key, [month, day, box]] of days) if (!this.#days.has(key)) this.#days.set(key, this.#day(month, day, box));
    let low = Infinity, high = -1, needed = -1;
    const need = () => { if (high >= 0 && !this.#fast) this.#timeline.need(needed, low, high + 1).catch(() => {}); };
    for (const [key, [month, index, day]] of wanted) {
      let tile = this.#tiles.get(key);
      if (!tile) {
        tile = this.#spare.pop() || newTile();
        this.#place(tile, month, index, this.#days.get(`${month}:${day}`), this.#layout(month));
        this.#tiles.set(key, tile);
      }
      this.#fill(tile, month, index);
      if (!tile.photo) {
        if (month !== needed) { need(); needed = month; low = Infinity; high = -1; }
        low = Math.min(low, index); high = Math.max(high, index);
      }
    }
    need();
    if (!this.#fast) this.#around();
  }

  #around() {
    const {month} = this.place();
    for (const next of [month, month + 1, month - 1]) if (this.#timeline.months[next]) this.#timeline.want(next);
  }

  #day(month, number, box) {
    const name = this.#timeline.nameOf(month, box.first);
    const title = make("h2", {}, dayName(name, box.day, box.width - (innerWidth < 700 ? 24 : 0)), " ", make("small", {textContent: box.width > 300 ? photos(box.last - box.first) : ""}));
    const list = make("ul", {className: "tiles"});
    const day = make("div", {className: "box"}, title, list);
    Object.assign(day.style, {top: `${box.top}px`, left: `${box.left}px`, width: `${box.width}px`, height: `${box.height}px`});
    this.#sections.get(month).append(day);
    return day;
  }

  #place(tile, month, index, day, laid) {
    const {style} = tile.item;
    style.left = `${laid.x[index]}px`; style.top = `${laid.y[index]}px`;
    style.width = `${laid.w[index]}px`; style.height = `${laid.h[index]}px`;
    tile.month = month; tile.index = index; tile.shown = ""; tile.photo = null;
    const {columns} = laid;
    tile.kind = columns.type[index];
    tile.item.className = `c${columns.color[index]}`;
    tile.item.setAttribute("aria-posinset", this.#timeline.begins[month] + index + 1);
    tile.item.setAttribute("aria-setsize", this.#timeline.total);
    tile.link.tabIndex = this.#held && this.#held[0] === month && this.#held[1] === index ? 0 : -1;
    tile.image.alt = "";
    day.lastChild.append(tile.item);
  }

  #fill(tile, month, index) {
    const photo = this.#timeline.photo(month, index);
    if (photo && tile.shown !== photo.uid) {
      tile.photo = photo; tile.shown = photo.uid;
      tile.link.href = photoPage(photo.uid);
      const name = this.#timeline.nameOf(month, index), {w, h} = this.#size_(tile);
      const day = this.#layout(month).days.find((box) => index >= box.first && index < box.last);
      tile.image.alt = photo.text || [tile.kind === VIDEO ? "Video" : "Photo", dayPlain(name, day.day)].filter(Boolean).join(", ");
      tile.box.setAttribute("aria-label", `Select ${tile.image.alt}`);
      const small = 720 * Math.min(1, w / h);
      tile.image.sizes = `${Math.ceil(w)}px`;
      tile.image.srcset = `${thumbnail(photo.hash, "fit_720")} ${Math.round(small)}w, ${thumbnail(photo.hash, "fit_1280")} ${Math.round(Math.min(1280, (1024 * w) / h))}w`;
      tile.image.src = thumbnail(photo.hash, "fit_720");
      const badges = [];
      if (photo.favorite) badges.push(make("span", {className: "badge", title: "Favorite"}, icon("heart")));
      if (photo.private) badges.push(make("span", {className: "badge", title: "Private"}, icon("lock")));
      if (tile.kind === VIDEO) badges.push(make("span", {className: "badge"}, icon("play"), playing(photo.duration)));
      else if (TYPES[tile.kind]) badges.push(make("span", {className: "badge"}, TYPES[tile.kind]));
      tile.badges.replaceChildren(...badges);
    }
    if (tile.photo) this.decorate(tile, tile.photo);
  }

  #size_(tile) { return {w: parseFloat(tile.item.style.width), h: parseFloat(tile.item.style.height)}; }

  #release(key, tile) {
    this.#tiles.delete(key);
    tile.item.remove();
    tile.image.removeAttribute("srcset"); tile.image.removeAttribute("src");
    tile.image.className = "";
    tile.badges.replaceChildren();
    tile.video?.remove(); tile.video = null;
    tile.link.removeAttribute("href");
    if (this.#spare.length < 100) this.#spare.push(tile);
  }

  #drop(month) {
    for (const [key, tile] of this.#tiles) if (tile.month === month) this.#release(key, tile);
    for (const [key, day] of this.#days) if (key.startsWith(`${month}:`)) { day.remove(); this.#days.delete(key); }
  }

  // All anew, at the same place: the library changed.
  reset(place) {
    for (const month of this.#sections.keys()) this.#drop(month);
    for (const section of this.#sections.values()) section.remove();
    this.#sections.clear(); this.#layouts.clear();
    this.#held = null;
    if (this.#timeline.months.length) this.#build(place?.month ?? 0, place?.offset ?? 0);
    else { this.#box.style.height = "0"; this.#tops = []; this.#heights = []; }
  }

  tileOf(element) {
    const item = element?.closest?.("li");
    return item ? item.tile : null;
  }

  tile(month, index) { return this.#tiles.get(`${month}:${index}`); }
  get tiles() { return this.#tiles.values(); }

  // Makes this the tile that Tab leads to, and scrolls it onto the screen.
  async focus(month, index, {show = true, take = true} = {}) {
    const old = this.#held && this.tile(...this.#held);
    if (old) old.link.tabIndex = -1;
    if (!this.#timeline.columns(month)) await this.#timeline.want(month);
    const laid = this.#layout(month);
    if (!laid) return;
    this.#held = [month, index];
    if (show) this.#scrollTo(month, index, laid);
    this.#render();
    const tile = this.tile(month, index);
    if (!tile) return;
    tile.link.tabIndex = 0;
    if (take) tile.link.focus({preventScroll: true});
  }

  get held() { return this.#held; }

  #scrollTo(month, index, laid) {
    const box = laid.days.find((day) => index >= day.first && index < day.last);
    const inside = box.top + laid.y[index], number = month - this.#first;
    const shown = number >= 0 && number < this.#tops.length ? this.#tops[number] + inside - (this.#scroll - this.#base) : null;
    const upper = this.top + this.#size.head, lower = innerHeight - (innerWidth < 700 ? 70 : 10);
    if (shown !== null && shown >= upper && shown + laid.h[index] <= lower) return;
    if (shown !== null && Math.abs(shown) < innerHeight * 2) {
      this.#scroll = Math.max(0, Math.round(this.#scroll + (shown < upper ? shown - upper : shown + laid.h[index] - lower)));
      scrollTo(0, this.#scroll);
      this.#step();
    } else this.goTo(month, Math.max(0, inside - innerHeight / 3));
  }

  // The tile next to one: by keys of the keyboard. Null at the ends.
  async beside([month, index], key) {
    const {months} = this.#timeline, count = months[month][1];
    if (key === "ArrowRight") return index + 1 < count ? [month, index + 1] : months[month + 1] ? [month + 1, 0] : null;
    if (key === "ArrowLeft") return index > 0 ? [month, index - 1] : month > 0 ? [month - 1, months[month - 1][1] - 1] : null;
    await this.#timeline.want(month);
    const at = this.#where(month, index);
    if (!at) return null;
    if (key === "Home" || key === "End") {
      const row = this.#inRow(month, at.y);
      return [month, key === "Home" ? row[0] : row.at(-1)];
    }
    const down = key === "ArrowDown" || key === "PageDown";
    const far = key.startsWith("Page") ? innerHeight * 0.8 : 0;
    let best = this.#nearest(month, at, down, far);
    for (let next = month; best === null && months[(next += down ? 1 : -1)];) {
      await this.#timeline.want(next);
      const laid = this.#layout(next);
      if (laid) return [next, this.#closest(next, at.x, down ? this.#rows(next)[0] : this.#rows(next).at(-1))];
    }
    return best === null ? null : [month, best];
  }

  #where(month, index) {
    const laid = this.#layout(month), box = laid?.days.find((day) => index >= day.first && index < day.last);
    return box && {x: box.left + laid.x[index] + laid.w[index] / 2, y: box.top + laid.y[index]};
  }

  #rows(month) {
    const found = new Set();
    const laid = this.#layout(month);
    for (const box of laid.days) for (let at = box.first; at < box.last; at++) found.add(Math.round(box.top + laid.y[at]));
    return [...found].sort((a, b) => a - b);
  }

  #inRow(month, y) {
    const laid = this.#layout(month), found = [];
    for (const box of laid.days) for (let at = box.first; at < box.last; at++) if (Math.abs(box.top + laid.y[at] - y) < 1) found.push(at);
    return found;
  }

  #closest(month, x, y) {
    let best = null, least = Infinity;
    for (const at of this.#inRow(month, y)) {
      const away = Math.abs(this.#where(month, at).x - x);
      if (away < least) { least = away; best = at; }
    }
    return best;
  }

  #nearest(month, {x, y}, down, far) {
    const rows = this.#rows(month).filter((row) => (down ? row > y + 1 : row < y - 1));
    if (!rows.length) return null;
    if (!down) rows.reverse();
    const row = rows.find((one) => Math.abs(one - y) >= far) ?? rows.at(-1);
    return this.#closest(month, x, row);
  }
}

function newTile() {
  const image = make("img", {decoding: "async", alt: ""});
  image.addEventListener("load", () => { image.className = "here"; });
  const link = make("a", {tabIndex: -1}, image);
  const box = make("input", {type: "checkbox", tabIndex: -1});
  const badges = make("span", {className: "badges"});
  const item = make("li", {}, link, make("label", {className: "pick"}, box), badges);
  const tile = {item, link, image, box, badges, month: 0, index: 0, shown: "", photo: null, kind: "0", video: null};
  item.tile = tile;
  return tile;
}

function firstBelow(days, top) {
  let low = 0, high = days.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (days[middle].top + days[middle].height < top) low = middle + 1; else high = middle;
  }
  return Math.max(0, low - 12);  // days of one row end at the same height, or nearly
}

function firstTile(laid, box, top) {
  let low = box.first, high = box.last;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (laid.y[middle] + laid.h[middle] < top) low = middle + 1; else high = middle;
  }
  return low;
}

export const isMoving = (tile) => tile.kind === VIDEO || tile.kind === LIVE;
