// The part of the grid around the screen: a few months are in the page, which scrolls natively, and only tiles near the
// screen are elements. A place is a month and pixels inside it, as browsers limit the height of a page.

import {beside} from "./beside.js";
import {make, place} from "./elements.js";
import {Layouts, dayOf} from "./layouts.js";
import {Span, near} from "./span.js";
import {Tile} from "./tile.js";
import {dayName, locale, photos} from "./words.js";

// screens of months on each side of a new window; it is built again when less than one is left
const SPARE = 3;
const REST = 90;  // milliseconds without movement after which pictures are loaded
const POOL = 100;  // unused tiles
const AT_ONCE = 20;  // tiles that get their pictures in one frame

export class Window extends EventTarget {
  #root; #timeline; #layouts; #span; #box;
  #days = new Map();
  #tiles = new Map();
  #pool = [];
  #kept = new Map();
  #frame = 0;
  #timer = 0;
  #scroll = 0;
  #marks = [];
  #base = 0;
  #fast = false;
  #held = null;  // the tile of the keyboard: [month, index]
  decorate = (_tile, _photo) => {};
  top = 64;  // pixels of the bar at the upper edge of the screen

  constructor(root, timeline) {
    super();
    this.#root = root;
    this.#timeline = timeline;
    this.#box = make("div", {className: "months"});
    this.#span = new Span(this.#box);
    root.replaceChildren(this.#box);
    root.classList.add("live");
    this.#layouts = new Layouts(root, timeline);
    addEventListener("scroll", () => this.#scrolled(), {passive: true});
    new ResizeObserver(() => this.#resize()).observe(root);
    new ResizeObserver(() => this.#find()).observe(document.body);
    this.#find();
    timeline.addEventListener("month", ({detail}) => this.#arrived(detail));
    timeline.addEventListener("photos", () => this.#schedule());
    timeline.addEventListener("changed", () => this.refresh());
  }

  #resize() {
    const place = this.place();
    if (!this.#layouts.measure()) return;
    const known = this.#timeline.months[place.month];
    if (known) this.goTo(place.month, place.offset * (this.#layouts.height(place.month) / (place.height || 1)));
  }

  // Finds the position of the months in the page; this forces a layout, which takes too long within a frame.
  #find() {
    this.#scroll = scrollY;
    if (this.#root.clientWidth) this.#base = this.#box.getBoundingClientRect().top + this.#scroll;
  }

  // The month at the upper edge, its pixels above, and its height.
  place() { return this.#span.at(this.#scroll - this.#base + this.top); }

  // The first photo on the screen, the name of its month, and its pixels below the upper edge.
  anchor() {
    const at = this.#scroll - this.#base + this.top;
    let first = null;
    for (const tile of this.#tiles.values()) {
      const laid = tile.photo && this.#layouts.of(tile.month);
      if (!laid || !this.#span.has(tile.month)) continue;
      const below = this.#span.top(tile.month) + inside(laid, tile.index) - at;
      if (below + laid.h[tile.index] <= 0 || (first && (first.month - tile.month || first.index - tile.index) <= 0))
        continue;
      first = {month: tile.month, index: tile.index, below, uid: tile.photo.uid,
        name: this.#timeline.nameOf(tile.month, tile.index)};
    }
    return first;
  }

  // The month and its pixels above the edge that put a photo, or the heading of its day, `below` pixels under it.
  #placeOf({month, index, below = this.#layouts.size.head, offset}) {
    const laid = index !== undefined && this.#layouts.of(month);
    let above = laid ? inside(laid, index) - below : offset || 0;
    while (above < 0 && month > 0) above += this.#layouts.height(--month);
    return [month, above];
  }

  // Shows a place (see `place` and `anchor`).
  show(place) { this.goTo(...this.#placeOf(place)); }

  // Shows a month from `offset` pixels inside it.
  goTo(month, offset, fast = false) {
    this.#fast = fast;
    this.#build(month, offset);
  }

  // Shows a month from a share of its height, while scrubbing.
  goToShare(month, share) { this.goTo(month, share * this.#layouts.height(month), true); }

  #build(month, offset) {
    const last = this.#timeline.months.length - 1, room = innerHeight * SPARE,
      height = (number) => this.#layouts.height(number);
    month = Math.min(Math.max(month, 0), last);
    offset = Math.min(Math.max(offset, 0), Math.max(0, height(month) - 1));
    let first = month, end = month, above = offset, below = height(month) - offset;
    while (first > 0 && above < room) above += height(--first);
    while (end < last && below < room) below += height(++end);
    this.#span.set(first, end, height, (number) => this.#drop(number));
    const inside = this.#span.top(month) + offset, before = this.#scroll;
    this.#scroll = first === 0 && inside === 0 ? 0 : Math.max(0, Math.round(this.#base + inside - this.top));
    this.#marks = [];
    this.#render();
    // This forces a layout, so it comes last.
    if (Math.abs(this.#scroll - before) >= 1) scrollTo(0, this.#scroll);
    this.#rest();
  }

  #arrived(month) {
    if (!this.#span.has(month)) return;
    const {month: here, offset, height} = this.place();
    this.#drop(month);
    // Within the loaded month, the share above the edge stays.
    this.#build(here, here === month ? (offset / height) * this.#layouts.height(month) : offset);
  }

  #scrolled() {
    if (scrollY === this.#scroll) return;  // our own
    this.#scroll = scrollY;
    // Pictures wait while more than seven screens pass in a second.
    const now = performance.now();
    this.#marks = this.#marks.filter(([time]) => now - time < 140);
    this.#marks.push([now, this.#scroll]);
    if (Math.abs(this.#scroll - this.#marks[0][1]) > innerHeight) this.#fast = true;
    this.#schedule();
  }

  #schedule() {
    if (!this.#frame) this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#step();
    });
  }

  #step() {
    const {month, offset} = this.place(), {first, last, height} = this.#span, at = this.#scroll - this.#base;
    if ((at < innerHeight && first > 0) || (height - at < innerHeight * 2 && last < this.#timeline.months.length - 1)) {
      this.#build(month, offset);
    } else {
      this.#render();
      this.#rest();
    }
  }

  // Reports the new place, and after a pause that it rests.
  #rest() {
    this.dispatchEvent(new CustomEvent("move", {detail: this.place()}));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#fast = false;
      this.#find();
      this.#render();
      this.dispatchEvent(new CustomEvent("rest", {detail: this.place()}));
    }, REST);
  }

  refresh() {
    for (const tile of this.#tiles.values()) tile.stale = true;
    this.#render();
  }

  // Shows the tiles on the screen and next to it, with elements that are used again.
  #render() {
    const at = this.#scroll - this.#base, spare = this.#fast ? 0 : innerHeight * 0.6;
    const {wanted, days, shown, missing} = near(this.#span, this.#layouts, at - spare, at + innerHeight + spare,
      this.#held);
    for (const month of shown) this.#timeline.want(month);  // keeps it loaded
    for (const month of missing) {
      if (this.#fast) this.#timeline.wantLast(month);
      else this.#timeline.want(month);
    }
    for (const [key, tile] of this.#tiles) if (!wanted.has(key)) this.#release(key, tile);
    for (const [key, day] of this.#days) if (!days.has(key)) {
      day.remove();
      this.#days.delete(key);
    }
    for (const [key, [month, box]] of days) if (!this.#days.has(key)) this.#days.set(key, this.#day(month, box));
    let low = Infinity, high = -1, needed = -1, room = AT_ONCE;
    const need = () => {
      if (high >= 0 && !this.#fast && !this.#timeline.rests) this.#timeline.need(needed, low, high + 1).catch(() => {});
    };
    for (const [key, [month, index, day, laid]] of wanted) {
      const photo = this.#timeline.photo(month, index);
      const tile = this.#tiles.get(key) || this.#place(key, month, index, day, laid, photo);
      if (!this.#fast) {
        tile.item.classList.remove("blank");
        if (photo && tile.stale && room-- > 0)
          tile.show(photo, this.#timeline.nameOf(month, index), laid.days[day].day);
      }
      if (photo) {
        this.decorate(tile, photo);
        continue;
      }
      if (month !== needed) {
        need();
        needed = month;
        low = Infinity;
        high = -1;
      }
      low = Math.min(low, index);
      high = Math.max(high, index);
    }
    need();
    if (room < 0) this.#schedule();
    if (this.#fast) return;
    const {month} = this.place();
    for (const next of [month, month + 1, month - 1]) if (this.#timeline.months[next]) this.#timeline.want(next);
  }

  #day(month, box) {
    const day = make("div", {className: "box"}, this.#timeline.headed ? this.#heading(month, box) : "",
      make("ul", {className: "tiles"}));
    const {left, top, width, height} = box;
    place(day, {left, top, width, height});
    this.#span.section(month).append(day);
    return day;
  }

  #heading(month, box) {
    const name = this.#timeline.nameOf(month, box.first);
    return make("h2", {lang: locale}, dayName(name, box.day, box.width - (innerWidth < 700 ? 24 : 0)), " ",
      make("small", {textContent: box.width > 300 ? photos(box.last - box.first) : ""}));
  }

  // A tile for an empty place.
  #place(key, month, index, day, laid, photo) {
    const tile = (photo && this.#kept.get(photo.uid)) || this.#pool.pop() || new Tile();
    if (photo) this.#kept.delete(photo.uid);
    tile.place(month, index, laid, this.#timeline.begins[month] + index + 1, this.#timeline.total);
    if (this.#held && this.#held[0] === month && this.#held[1] === index) tile.link.tabIndex = 0;
    this.#days.get(`${month}:${day}`).lastChild.append(tile.item);
    this.#tiles.set(key, tile);
    return tile;
  }

  #release(key, tile) {
    this.#tiles.delete(key);
    tile.clear();
    if (this.#pool.length < POOL) this.#pool.push(tile);
  }

  #drop(month) {
    for (const [key, tile] of this.#tiles) if (tile.month === month) this.#release(key, tile);
    for (const [key, day] of this.#days) if (key.startsWith(`${month}:`)) {
      day.remove();
      this.#days.delete(key);
    }
  }

  // Builds all tiles again at a place (see `place` and `anchor`). Photos that are shown again keep their pictures.
  reset(place) {
    const focused = this.#root.contains(document.activeElement)
      ? this.tileOf(document.activeElement)?.photo?.uid : null;
    for (const tile of this.#tiles.values()) if (tile.photo) this.#kept.set(tile.photo.uid, tile);
    for (const [key, tile] of this.#tiles) {
      if (tile.photo) this.#tiles.delete(key);
      else this.#release(key, tile);
    }
    this.#span.clear((month) => this.#drop(month));
    this.#layouts.clear();
    this.#held = null;
    if (this.#timeline.months.length) this.#build(...this.#placeOf(place ?? {month: 0}));
    for (const tile of this.#kept.values()) this.#release("", tile);
    this.#kept.clear();
    const tile = focused && [...this.tiles].find(({photo}) => photo?.uid === focused);
    if (tile) this.focus(tile.month, tile.index, {show: false});
  }

  tileOf(element) {
    const item = element?.closest?.("li");
    return item ? item.tile : null;
  }

  tile(month, index) { return this.#tiles.get(`${month}:${index}`); }
  get tiles() { return this.#tiles.values(); }
  get held() { return this.#held; }

  // Makes a tile the one that Tab leads to, and scrolls it onto the screen.
  async focus(month, index, {show = true, take = true} = {}) {
    const old = this.#held && this.tile(...this.#held);
    if (old) old.link.tabIndex = -1;
    if (!this.#timeline.columns(month)) await this.#timeline.want(month);
    const laid = this.#layouts.of(month);
    if (!laid) return;
    this.#held = [month, index];
    if (show) this.#scrollTo(month, index, laid);
    this.#render();
    const tile = this.tile(month, index);
    if (!tile) return;
    tile.link.tabIndex = 0;
    if (take) tile.link.focus({preventScroll: true});
  }

  #scrollTo(month, index, laid) {
    const within = inside(laid, index);
    const shown = this.#span.has(month) ? this.#span.top(month) + within - (this.#scroll - this.#base) : null;
    const upper = this.top + this.#layouts.size.head, lower = innerHeight - (innerWidth < 700 ? 70 : 10);
    if (shown !== null && shown >= upper && shown + laid.h[index] <= lower) return;
    if (shown !== null && Math.abs(shown) < innerHeight * 2) {
      this.#scroll = Math.max(0,
        Math.round(this.#scroll + (shown < upper ? shown - upper : shown + laid.h[index] - lower)));
      scrollTo(0, this.#scroll);
      this.#step();
    } else this.goTo(month, Math.max(0, within - innerHeight / 3));
  }

  // The place to which a key leads; null at the ends.
  beside(place, key) { return beside(this.#timeline, this.#layouts, place, key); }
}

// Pixels from the top of its month to a photo.
const inside = (laid, index) => laid.days[dayOf(laid, index)].top + laid.y[index];
