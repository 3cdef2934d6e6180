// A photo of the grid: an item of the list with a link, a box to select it, and badges. Tiles are used again.

import {SIZES, may, photoPage, site, thumbnail} from "./api.js";
import {icon, make, place} from "./elements.js";
import {dayPlain, playing, t} from "./words.js";

const TYPES = ["", "RAW", t("liveBadge"), "", "GIF", "", "", ""];
const SHOWN = SIZES.slice(0, 3);
export const VIDEO = "3", LIVE = "2";  // the digits of these types

export const isMoving = ({kind}) => kind === VIDEO || kind === LIVE;

export class Tile {
  month = 0;
  index = 0;
  kind = "0";     // the digit of its type
  photo = null;   // its values, once they are loaded
  stale = true;   // whether the elements do not show these values yet
  video = null;
  #src = "";
  #width = 0;
  #height = 0;

  constructor() {
    this.image = make("img", {decoding: "async", alt: "", draggable: false});
    this.image.addEventListener("load", () => { this.image.className = "here"; });
    this.link = make("a", {tabIndex: -1}, this.image);
    this.box = make("input", {type: "checkbox", tabIndex: -1});
    this.badges = make("span", {className: "badges"});
    this.item = make("li", {}, this.link, make("label", {className: "pick"}, this.box), this.badges);
    this.item.tile = this;
    if (site.trash) for (const action of ["restore", "purge"].filter(may)) this.item.append(make("button",
      {type: "button", className: `act ${action}`, tabIndex: -1}, icon(action === "purge" ? "bin" : action)));
  }

  // Moves it to its place in the layout of its month, as number `position` of all `total` photos.
  place(month, index, laid, position, total) {
    const {columns, x, y, w, h} = laid;
    Object.assign(this, {month, index, photo: null, stale: true, kind: columns.type[index]});
    this.#width = w[index];
    this.#height = h[index];
    place(this.item, {left: x[index], top: y[index], width: w[index], height: h[index]});
    this.item.className = `c${columns.color[index]} blank`;  // until it is at rest
    // Without a total, positions are not known yet.
    if (total) {
      this.item.setAttribute("aria-posinset", position);
      this.item.setAttribute("aria-setsize", total);
    }
    this.link.tabIndex = -1;
  }

  // Shows a photo, taken on a day of the month `name`.
  show(photo, name, day) {
    this.photo = photo;
    this.stale = false;
    this.link.href = photoPage(photo.uid);
    this.image.alt = photo.text
      || [t(this.kind === VIDEO ? "video" : "photo"), dayPlain(name, day)].filter(Boolean).join(", ");
    for (const act of this.item.querySelectorAll(".act")) {
      const label = t(act.classList.contains("purge") ? "deleteNow" : "restoreKey");
      act.title = label;
      act.setAttribute("aria-label", `${label}: ${this.image.alt}`);
    }
    this.box.setAttribute("aria-label", t("select", {photo: this.image.alt}));
    this.#load(photo);
    const badges = [];
    if (photo.favorite) badges.push(make("span", {className: "badge", title: t("favorite")}, icon("heart")));
    if (photo.private) badges.push(make("span", {className: "badge", title: t("private")}, icon("lock")));
    if (this.kind === VIDEO) badges.push(make("span", {className: "badge"}, icon("play"), playing(photo.duration)));
    else if (TYPES[this.kind]) badges.push(make("span", {className: "badge"}, TYPES[this.kind]));
    if (photo.days) badges.push(make("span", {className: `badge days-left${photo.days === 1 ? " last-day" : ""}`},
      t(photo.days === 1 ? "lastDay" : "days", {num: photo.days})));
    if (badges.length || this.badges.firstChild) this.badges.replaceChildren(...badges);
  }

  #load(photo) {
    const sizes = `${Math.ceil(this.#width)}px`, ratio = this.#width / this.#height;
    if (this.image.sizes !== sizes) this.image.sizes = sizes;
    const src = thumbnail(photo, SHOWN[0][0]);
    if (src === this.#src) return;
    this.#src = src;
    this.image.className = "";
    const widthOf = (width, height) => Math.round(Math.min(width, height * ratio));
    const sources = SHOWN.map(([name, ...box]) => `${thumbnail(photo, name)} ${widthOf(...box)}w`);
    this.image.srcset = sources.join(", ");
    this.image.src = src;
  }

  // Removes it from the page, and stops loading its pictures.
  clear() {
    this.item.remove();
    if (!this.#src) return;
    this.photo = null;
    this.stale = true;
    this.#src = "";
    this.image.removeAttribute("srcset");
    this.image.removeAttribute("src");
    this.image.className = "";
    this.image.alt = "";
    if (this.badges.firstChild) this.badges.replaceChildren();
    this.video?.remove();
    this.video = null;
    this.link.removeAttribute("href");
  }
}
