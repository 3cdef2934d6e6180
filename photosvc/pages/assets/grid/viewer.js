// One photo over the whole screen, with PhotoSwipe, which leads to every photo of the search.

import PhotoSwipe from "../vendor/photoswipe/photoswipe.js";

import {ACTIONS} from "./actions.js";
import {SIZES, may, photoPage, site, thumbnail, video} from "./api.js";
import {icon, isStill, make} from "./elements.js";
import {actionOf, isShortcut, isTyping, lettersCount} from "./keys.js";
import {LIVE, VIDEO} from "./tile.js";
import {t} from "./words.js";

// Actions with a button, in this order.
const SHOWN = ["favorite", "private", "share", "approve", "archive", "album", "takeout", "cover", "download", "restore",
  "purge", "delete"];
const PANEL = 360, BELOW = 0.65;  // pixels beside the picture, or a share of the screen below it
const OPEN = "photosvc-panel";  // whether the panel is open, also with the next photo that is opened
const SITE = document.title.slice(document.title.lastIndexOf(" · "));  // the end of every title
const IDLE = 3000;  // milliseconds without movement after which the buttons fade
const FEW = 3;
const EARLY = {Escape: "close", ArrowLeft: "prev", ArrowRight: "next"};

export class Viewer {
  #timeline; #grid; #actions;
  #swipe = null;
  #panel = null;
  #open = false;
  #counter; #info; #playing; #caption;
  #slideshow = null;
  #idle = 0;
  #buttons = {};
  #early = [];
  #shown = {};
  #title = "";
  #tries = new Map();

  constructor(timeline, grid, actions) {
    this.#timeline = timeline;
    this.#grid = grid;
    this.#actions = actions;
    timeline.addEventListener("photos", () => this.#loaded());
    timeline.addEventListener("changed", ({detail: {uids, by}}) => {
      this.#marks();
      if (by !== this.#panel) this.#panel?.changed(uids);
    });
    grid.addEventListener("renewed", ({detail}) => this.#renewed(detail).catch(() => {}));
    document.addEventListener("keydown", (event) => this.#key(event));
  }

  get isOpen() { return this.#open; }
  #place(index) { return this.#timeline.at(index); }
  #photo(index) {
    const place = this.#place(index);
    return this.#timeline.photo(place.month, place.index);
  }
  get photo() { return this.#swipe ? this.#photo(this.#swipe.currIndex) : null; }

  // Shows a photo, as a new entry of the history unless `entry` is false.
  async show(month, index, {entry = true} = {}) {
    if (this.#open) return;
    this.#open = true;
    this.#title = document.title;
    try {
      await this.#timeline.want(month);
      await this.#timeline.need(month, index, index + 1);
      this.#begin(this.#timeline.begins[month] + index, this.#timeline.photo(month, index), entry);
    } catch (error) {
      this.#open = false;
      throw error;
    }
  }

  #options() {
    const still = isStill();
    return {
      loop: false, wheelToZoom: true, bgOpacity: 1, escKey: true, returnFocus: false, counter: false, close: true,
      initialPointerPos: {x: 0, y: 0}, preload: [1, 2],
      showHideAnimationType: still ? "none" : "fade", zoomAnimationDuration: still ? 0 : 220,
      // Pictures are never enlarged; the second step shows one pixel of the picture in one of the screen.
      initialZoomLevel: (zoom) => Math.min(zoom.fit, 1 / devicePixelRatio || 1, 1),
      secondaryZoomLevel: (zoom) => Math.max(1 / (devicePixelRatio || 1), Math.min(zoom.fit * 2, 1)),
      maxZoomLevel: (zoom) => Math.max(2, zoom.fit),
      getViewportSizeFn: () => {
        if (!this.#panel?.isOpen) return {x: innerWidth, y: innerHeight};
        if (innerWidth >= 900) return {x: innerWidth - PANEL, y: innerHeight};
        return {x: innerWidth, y: Math.round(innerHeight * (1 - BELOW))};
      },
      closeTitle: t("closeKey"), zoomTitle: t("zoomKey"), arrowPrevTitle: t("previous"), arrowNextTitle: t("next"),
      errorMsg: t("noPicture"),
    };
  }

  #begin(at, photo, entry) {
    const swipe = this.#swipe = new PhotoSwipe({...this.#options(), index: at});
    swipe.addFilter("numItems", () => this.#timeline.total);
    swipe.addFilter("itemData", (_, index) => this.#item(index));
    swipe.addFilter("preventPointerEvent", (prevent, event) => (onControls(event) ? false : prevent));
    // A pointer on controls must not take the focus from a field.
    swipe.on("pointerDown", (event) => {
      if (onControls(event.originalEvent)) event.preventDefault();
      else this.#panel?.leave();
    });
    swipe.on("contentLoad", (event) => this.#content(event));
    swipe.on("contentDeactivate", ({content}) => content.element?.pause?.());
    swipe.on("loadError", ({content}) => this.#again(swipe, content));
    swipe.on("uiRegister", () => this.#addButtons(swipe));
    swipe.on("change", () => this.#changed());
    swipe.on("keydown", (event) => this.#typing(event));
    // PhotoSwipe ignores keys until it has opened: they are repeated then.
    this.#early = [];
    this.#tries.clear();
    swipe.on("openingAnimationEnd", () => queueMicrotask(() => {
      if (this.#panel?.isOpen) swipe.updateSize(true);  // a panel that was opened meanwhile took room
      if (!inViewer()) swipe.close();  // the user went back meanwhile
      this.#early.splice(0).forEach((action) => swipe[action]());
    }));
    swipe.on("close", () => {
      this.#panel?.close();
      if (inViewer()) history.back();
    });
    swipe.on("destroy", () => this.#closed());
    if (entry) history.pushState({viewer: at}, "", photoPage(photo.uid));
    swipe.init();
    const buttons = Object.values(this.#buttons);
    // On phones the bar at the top has room for a few of them.
    if (innerWidth < 700 && buttons.length > FEW)
      swipe.element.append(make("div", {className: "pswp__lower-bar pswp__hide-on-close"}, ...buttons));
    // PhotoSwipe would take the focus only when it has opened, perhaps from a field that somebody types in.
    swipe.element.focus();
    this.#actions.line.standIn(swipe.element);
    for (const name of ["pointermove", "pointerdown", "keydown", "focusin"])
      swipe.element.addEventListener(name, () => this.#wake(swipe.element));
    this.#wake(swipe.element);
    swipe.element.setAttribute("aria-modal", "true");
    swipe.element.setAttribute("aria-label", t("photo"));
  }

  // Shows the buttons until the pointer rests, but not while one of them has the focus.
  #wake(element) {
    clearTimeout(this.#idle);
    element.classList.remove("idle");
    this.#idle = setTimeout(() => {
      if (!element.querySelector(":is(button, .panel *):focus-visible")) element.classList.add("idle");
    }, IDLE);
  }

  // Begins a slideshow with the present photo, or ends it.
  async play() {
    const swipe = this.#swipe;
    if (this.#slideshow) {
      this.#slideshow.stop();
      return;
    }
    const {Slideshow} = await import("./slideshow.js");
    if (this.#swipe !== swipe || !swipe || this.#slideshow) return;
    this.#panel?.close();
    this.#info.setAttribute("aria-pressed", "false");
    swipe.updateSize(true);
    this.#slideshow = new Slideshow(swipe, () => { this.#slideshow = null; });
  }

  // Closes the viewer, with an open dialog about its photo.
  close() {
    document.querySelector("dialog[open]")?.close();
    this.#swipe?.close();
  }

  // The data of a photo for PhotoSwipe; before it is loaded, a box of its shape.
  #item(position) {
    const {month, index} = this.#place(position);
    const photo = this.#timeline.photo(month, index), columns = this.#timeline.columns(month);
    const kind = columns?.type[index] ?? "0", ratio = (columns?.ratio[index] ?? 133) / 100;
    if (!photo) {
      this.#timeline.want(month);
      this.#timeline.need(month, index - 5, index + 6).catch(() => {});
      return {width: Math.round(1000 * ratio), height: 1000, html: "", waiting: true};
    }
    const width = photo.width || Math.round(1000 * ratio), height = photo.height || 1000;
    const msrc = this.#grid.tile(month, index)?.image.currentSrc || thumbnail(photo, "fit_720");
    if (kind === VIDEO) return {type: "video", width, height, photo, alt: photo.text, msrc};
    const sources = [];
    for (const [name, w, h] of SIZES.slice(1)) {
      const scale = Math.min(1, w / width, h / height);
      sources.push(`${thumbnail(photo, name)} ${Math.round(width * scale)}w`);
      if (scale === 1) break;
    }
    return {
      src: thumbnail(photo, "fit_1920"), srcset: sources.join(", "), msrc,
      width, height, photo, live: kind === LIVE, alt: photo.text || t("photo"),
    };
  }

  #content(event) {
    const {content} = event, {data} = content;
    if (data.type !== "video") return;
    event.preventDefault();
    content.type = "video";
    content.element = make("video", {
      className: "pswp__video", controls: true, playsInline: true, preload: "metadata", poster: data.msrc,
      src: video(data.photo.hash), ariaLabel: data.alt || t("video"),
    });
    content.element.addEventListener("error", () => {
      if (content.element.hasAttribute("src")) import("./converting.js").then(({convert}) => convert(content.element));
    });
    content.state = "loaded";
    content.onLoaded();
  }

  // Requests a picture again that is not made yet, with growing pauses.
  #again(swipe, {index, data: {photo}}) {
    const tries = (this.#tries.get(photo?.uid) || 0) + 1;
    if (!photo || tries > 40) return;
    this.#tries.set(photo.uid, tries);
    setTimeout(() => {
      if (this.#swipe === swipe && this.#photo(index)?.uid === photo.uid) swipe.refreshSlideContent(index);
    }, Math.min(500 + 500 * tries, 10000));
  }

  #addButtons(swipe) {
    const add = (name, order, title, picture, click, extra = {}) => swipe.ui.registerElement({
      name, order, isButton: true, title, ariaLabel: title, html: "", ...extra,
      onInit: (element) => {
        element.classList.add("own");
        element.append(icon(picture));
        extra.onInit?.(element);
      },
      onClick: click,
    });
    swipe.ui.registerElement({name: "position", order: 5, isButton: false, onInit: (element) => {
      this.#counter = element;
      element.setAttribute("role", "status");
      element.setAttribute("aria-live", "polite");
    }});
    if (!site.trash) add("slideshow", 7.5, t("slideshowKey"), "play", () => this.play(),
      {onInit: (element) => element.append(make("span", {textContent: t("slideshow")}))});
    add("moving", 7, t("playKey"), "live", () => this.#live(), {onInit: (element) => { this.#playing = element; }});
    for (const action of SHOWN) {
      const {right, label, picture, isHidden} = ACTIONS[action];
      if (isHidden || !may(right)) continue;
      const onInit = (element) => { this.#buttons[action] = element; };
      add(action, 8, label, picture, () => this.#run(action), {onInit});
    }
    if (site.visitor) swipe.ui.registerElement({name: "caption", appendTo: "root", onInit: (element) => {
      this.#caption = element;
    }});
    if (!site.trash) add("info", 9, t("detailsKey"), "info", () => this.#details(), {onInit: (element) => {
      this.#info = element;
      element.setAttribute("aria-pressed", false);
      if (sessionStorage.getItem(OPEN) === "1") this.#details();
    }});
  }

  // Opens or closes the panel, which is loaded when it is first opened. `edit`: opens it at its first field.
  async #details(edit = false) {
    const swipe = this.#swipe;
    try {
      const {Panel} = await (site.visitor ? import("./about.js") : import("./panel.js"));
      if (this.#swipe !== swipe) return;
      this.#panel ??= new Panel(this.#timeline, this.#actions, {resized: () => this.#swipe.updateSize(true),
        away: (uid, text) => this.#unsaved(uid, text), close: () => this.#details()});
      this.#panel.standIn(swipe.element);
      if (!edit || !this.#panel.isOpen) this.#panel.toggle(this.photo);
      if (edit) this.#panel.edit();
      this.#info.setAttribute("aria-pressed", this.#panel.isOpen);
      sessionStorage.setItem(OPEN, this.#panel.isOpen ? "1" : "0");
    } catch {
      this.#actions.say(t("noDetails"));
    }
  }

  // Reports that a value of a photo was not saved, with a link to the photo.
  #unsaved(uid, text) {
    const href = photoPage(uid);
    const onclick = async (event) => {
      event.preventDefault();
      try {
        const {positionOf} = await import("./arrive.js");
        const at = await positionOf(uid, this.#timeline), {month, index} = this.#place(at);
        if (this.#swipe) this.#swipe.goTo(at);
        else await this.show(month, index);
        await this.#details(true);
      } catch {
        location.assign(href);
      }
    };
    this.#actions.say(t("unsaved", {error: text}), null, {href, textContent: t("show"), onclick});
  }

  #run(action) {
    const {photo} = this;
    if (photo) this.#actions.run(action, [photo]);
  }

  #live() {
    const slide = this.#swipe.currSlide, {photo} = slide?.data || {};
    const still = slide?.content.element, old = slide?.container.querySelector(".pswp__moving");
    if (photo && still?.tagName === "VIDEO") toggle(still);
    else if (old) old.remove();
    else if (photo && slide.data.live) this.#play(slide, still, photo);
  }

  // Plays the video of a live photo over its picture, once.
  #play(slide, still, photo) {
    const moving = make("video", {
      className: "pswp__moving", autoplay: true, playsInline: true, controls: true, src: video(photo.hash),
      ariaLabel: t("moving"),
    });
    moving.addEventListener("ended", () => moving.remove());
    moving.addEventListener("error", () => {
      moving.remove();
      this.#actions.say(t("noMoving"));
    });
    moving.style.width = still.style.width;
    moving.style.height = still.style.height;
    slide.container.append(moving);
  }

  #changed() {
    const {currIndex} = this.#swipe, photo = this.#photo(currIndex);
    this.#swipe.element?.querySelectorAll(".pswp__moving").forEach((one) => one.remove());
    if (this.#counter) this.#counter.textContent = t("of", {at: currIndex + 1, total: this.#timeline.total});
    if (!photo) return;
    const {month, index} = this.#place(currIndex);
    this.#shown = {uid: photo.uid, name: this.#timeline.nameOf(month, index)};
    document.title = `${photo.text || this.#grid.tile(month, index)?.image.alt || t("photo")}${SITE}`;
    if (inViewer()) history.replaceState({viewer: currIndex}, "", photoPage(photo.uid));
    const title = make("b", {textContent: photo.title, dir: "auto"});
    this.#caption?.replaceChildren(...[title, photo.about].filter(Boolean));
    this.#panel?.show(photo);
    this.#marks();
  }

  #marks() {
    const {photo} = this;
    if (!photo) return;
    for (const mark of ["favorite", "private"]) this.#buttons[mark]?.setAttribute("aria-pressed", photo[mark]);
    if (this.#playing) this.#playing.hidden = !this.#swipe.currSlide?.data.live;
    if (this.#buttons.takeout) this.#buttons.takeout.hidden = !photo.own;
  }

  // Slides that were empty boxes become pictures.
  #loaded() {
    const swipe = this.#swipe;
    if (!swipe?.mainScroll) return;
    for (const {slide} of swipe.mainScroll.itemHolders) {
      if (!slide?.data.waiting) continue;
      if (this.#photo(slide.index)) swipe.refreshSlideContent(slide.index);
      else this.#item(slide.index);  // asks for it again where that failed
    }
    this.#changed();
  }

  // The library changed: shows the same photo at its new place, or the photo at the old place if it is gone. `kept` is
  // a photo that moved: {uid, name}, with the name of its month.
  async #renewed(kept) {
    const swipe = this.#swipe;
    if (!this.#timeline.total) this.close();
    if (!swipe || !this.#timeline.total) return;
    const {uid, name} = this.#shown, names = kept?.uid === uid ? [kept.name, name] : [name];
    const located = await this.#timeline.locate(uid, names);
    const at = located < 0 ? Math.min(swipe.currIndex, this.#timeline.total - 1) : located;
    if (this.#swipe !== swipe) return;
    if (at !== swipe.currIndex) swipe.goTo(at);
    for (const {slide} of swipe.mainScroll.itemHolders) if (slide) swipe.refreshSlideContent(slide.index);
    this.#changed();
  }

  // In text fields, PhotoSwipe's own keys (arrows, Escape, z) are text.
  #typing(event) {
    const {originalEvent: key} = event, field = key.target.closest?.("input, textarea, select, dialog, .pinning");
    if (key.key.length === 1 && key.key !== " " && !lettersCount()) event.preventDefault();
    if (key.key === "Escape" && this.#slideshow) {
      event.preventDefault();
      this.#slideshow.stop();
    }
    if (!field) return;
    event.preventDefault();
    if (key.key === "Escape" && field.tagName !== "DIALOG" && !field.closest("dialog")) field.blur();
  }

  #key(event) {
    if (!this.#swipe || isTyping(event)) return;
    const act = this.#actOf(event);
    if (!act) return;
    event.preventDefault();
    act();
  }

  // The function that a key calls; undefined for keys that mean nothing here.
  #actOf(event) {
    const {key} = event, {opener} = this.#swipe;
    if (event.ctrlKey || event.metaKey || event.altKey) return key === "z" ? () => this.#actions.undo() : undefined;
    if (!isShortcut(event)) return undefined;
    const action = actionOf(key);
    if (action === "edit" && may("update")) return () => this.#details(true);
    if (action) return () => this.#run(action);
    if (!opener.isOpen && !opener.isClosing && EARLY[key]) return () => this.#early.push(EARLY[key]);
    if (key === "i" && this.#info) return () => this.#details();
    if (key === "?") return () => import("./help.js").then(({help}) => help(), () => {});
    if (/^[0-5]$/.test(key) && this.photo) return () => this.#actions.rate([this.photo], Number(key));
    if (key === "S" && this.#info) return () => this.play();
    if (key !== " " || event.target.closest?.("button, a, video")) return undefined;
    return () => (this.#slideshow ? this.#slideshow.hold() : this.#live());
  }

  #closed() {
    document.title = this.#title;
    const at = this.#swipe.currIndex;
    this.#actions.line.standIn(document.body);
    clearTimeout(this.#idle);
    this.#caption = null;
    this.#buttons = {};
    this.#swipe = null;
    this.#open = false;
    const {month, index} = this.#place(Math.min(at, this.#timeline.total - 1));
    this.#grid.focus(month, index);
  }
}

// Returns whether the entry of the history belongs to the viewer; the number of its photo can be 0.
export const inViewer = () => history.state?.viewer !== undefined;

// The lower edge of a video belongs to its controls.
function onControls(event) {
  const player = event.target?.closest?.("video[controls]");
  if (event.target?.closest?.(".panel")) return true;
  return Boolean(player) && event.clientY > player.getBoundingClientRect().bottom - 76;
}

const toggle = (element) => (element.paused ? element.play().catch(() => {}) : element.pause());
