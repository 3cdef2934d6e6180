// One photo over the whole screen, with PhotoSwipe: every photo of the search is one swipe away, however many there
// are.

import PhotoSwipe from "../vendor/photoswipe/photoswipe.js";

import {may, photoPage, site, thumbnail, video} from "./api.js";
import {icon, make} from "./icons.js";
import {actionOf, isShortcut, isTyping, lettersCount} from "./keys.js";
import {t} from "./words.js";

const SIZES = [["fit_720", 720, 720], ["fit_1280", 1280, 1024], ["fit_1920", 1920, 1200], ["fit_2560", 2560, 1600],
  ["fit_3840", 3840, 2400], ["fit_7680", 7680, 4320]];
const PANEL = 340, BELOW = 0.55;  // pixels beside the picture, or a share of the screen below it
const VIDEO = "3", LIVE = "2";
const OPEN = "photosvc-panel";  // whether the panel is open, also with the next photo that is opened
const SITE = document.title.slice(document.title.lastIndexOf(" · "));  // the end of every title
const EARLY = {Escape: "close", ArrowLeft: "prev", ArrowRight: "next"};

export class Viewer {
  #timeline; #grid; #actions;
  #swipe = null;
  #panel = null;
  #open = false;
  #kinds = new Map();
  #counter; #info; #heart; #lock; #play;
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
    const {month, index: at} = this.#place(index);
    return this.#timeline.photo(month, at);
  }
  get photo() { return this.#swipe ? this.#photo(this.#swipe.currIndex) : null; }

  // Shows the photo at this position, as a new entry of the history unless the history led there.
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

  #begin(at, photo, entry) {
    const address = photoPage(photo.uid);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const swipe = this.#swipe = new PhotoSwipe({
      index: at, loop: false, wheelToZoom: true, bgOpacity: 1, escKey: true, returnFocus: false,
        initialPointerPos: {x: 0, y: 0}, preload: [1, 2],
      showHideAnimationType: still ? "none" : "fade", zoomAnimationDuration: still ? 0 : 220, counter: false,
        close: true,
      // Never larger than it is; a second step shows each pixel of the picture as one of the screen.
      initialZoomLevel: (zoom) => Math.min(zoom.fit, 1 / devicePixelRatio || 1, 1),
      secondaryZoomLevel: (zoom) => Math.max(1 / (devicePixelRatio || 1), Math.min(zoom.fit * 2, 1)),
      maxZoomLevel: (zoom) => Math.max(2, zoom.fit),
      getViewportSizeFn: () => {
        const open = this.#panel?.isOpen, beside = innerWidth >= 900;
        return {x: innerWidth - (open && beside ? PANEL : 0),
          y: open && !beside ? Math.round(innerHeight * (1 - BELOW)) : innerHeight};
      },
      closeTitle: t("closeKey"), zoomTitle: t("zoomKey"), arrowPrevTitle: t("previous"), arrowNextTitle: t("next"),
        errorMsg: t("noPicture"),
    });
    swipe.addFilter("numItems", () => this.#timeline.total);
    swipe.addFilter("itemData", (_, number_) => this.#item(number_));
    swipe.addFilter("preventPointerEvent", (prevent, event) => (onControls(event) ? false : prevent));
    // PhotoSwipe's pointers take the focus from no field.
    swipe.on("pointerDown", (event) => {
      if (onControls(event.originalEvent)) event.preventDefault();
      else this.#panel?.leave();
    });
    swipe.on("contentLoad", (event) => this.#content(event));
    swipe.on("contentDeactivate", ({content}) => content.element?.pause?.());
    swipe.on("loadError", ({content}) => this.#again(swipe, content));
    swipe.on("uiRegister", () => this.#buttons(swipe));
    swipe.on("change", () => this.#changed());
    swipe.on("keydown", (event) => this.#typing(event));
    // PhotoSwipe reads no keys before it has opened: keys pressed meanwhile are repeated.
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
    if (entry) history.pushState({viewer: at}, "", address);
    swipe.init();
    // PhotoSwipe would take the focus when it has opened (not with a pointer's position), also from who types by then.
    swipe.element.focus();
    this.#actions.line.standIn(swipe.element);
    swipe.element.setAttribute("aria-modal", "true");
    swipe.element.setAttribute("aria-label", t("photo"));
  }

  // With a dialog about the photo that it shows.
  close() {
    document.querySelector("dialog[open]")?.close();
    this.#swipe?.close();
  }

  // The data of a photo for PhotoSwipe; before it is loaded, a box of its shape.
  #item(number_) {
    const {month, index} = this.#place(number_), photo = this.#timeline.photo(month, index),
      columns = this.#timeline.columns(month);
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
    for (const [name, w, h] of SIZES) {
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
    content.element = make("video",
      {className: "pswp__video", controls: true, playsInline: true, preload: "metadata", poster: data.msrc,
      src: video(data.photo.hash), ariaLabel: data.alt || t("video")});
    content.element.addEventListener("error",
      () => content.element.replaceWith(make("p", {className: "pswp__wrong", textContent: t("noVideo")})));
    content.state = "loaded";
    content.onLoaded();
  }

  // A picture that is not made yet is asked for again, less and less often.
  #again(swipe, {index, data: {photo}}) {
    const number_ = (this.#tries.get(photo?.uid) || 0) + 1;
    if (!photo || number_ > 40) return;
    this.#tries.set(photo.uid, number_);
    setTimeout(() => {
      if (this.#swipe === swipe && this.#photo(index)?.uid === photo.uid) swipe.refreshSlideContent(index);
    }, Math.min(500 + 500 * number_, 10000));
  }

  #buttons(swipe) {
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
    add("moving", 7, t("playKey"), "play", () => this.#live(), {onInit: (element) => { this.#play = element; }});
    if (may("update")) add("favorite", 8, t("favoriteKey"), "heart", () => this.#run("favorite"),
      {onInit: (element) => {
        this.#heart = element;
      }});
    if (may("update")) add("private", 8, t("privateKey"), "lock", () => this.#run("private"), {onInit: (element) => {
      this.#lock = element;
    }});
    if (may("update") && site.review) add("approve", 9, t("approve"), "check", () => this.#run("approve"));
    if (may("update")) add("archive", 9, t("archiveKey"), "archive", () => this.#run("archive"));
    if (may("albums")) add("album", 9, t("albumKey"), "add-to-album", () => this.#run("album"));
    if (may("download")) add("download", 9, t("downloadKey"), "download", () => this.#run("download"));
    if (may("delete")) add("delete", 9, t(may("remove") ? "delete" : "deleteKey"), "bin", () => this.#run("delete"));
    add("info", 9, t("detailsKey"), "info", () => this.#details(), {onInit: (element) => {
      this.#info = element;
      element.setAttribute("aria-pressed", false);
      if (sessionStorage.getItem(OPEN) === "1") this.#details();
    }});
  }

  // Opens and closes the panel, which is loaded when it is first opened; to `edit`, it stays or becomes open.
  async #details(edit = false) {
    const swipe = this.#swipe;
    try {
      const {Panel} = await import("./panel.js");
      if (this.#swipe !== swipe) return;
      this.#panel ??= new Panel(this.#timeline, () => this.#swipe.updateSize(true),
        (uid, text) => this.#unsaved(uid, text));
      this.#panel.standIn(swipe.element);
      if (!edit || !this.#panel.isOpen) this.#panel.toggle(this.photo);
      if (edit) this.#panel.edit();
      this.#info.setAttribute("aria-pressed", this.#panel.isOpen);
      sessionStorage.setItem(OPEN, this.#panel.isOpen ? "1" : "0");
    } catch { this.#actions.say(t("noDetails")); }
  }

  // Tells that a value of a photo was not saved; the link leads to it.
  #unsaved(uid, text) {
    const href = photoPage(uid), lead = async (event) => {
      event.preventDefault();
      try {
        const {positionOf} = await import("./arrive.js"), at = await positionOf(uid, this.#timeline);
        if (this.#swipe) this.#swipe.goTo(at);
        else {
          const {month, index} = this.#place(at);
          await this.show(month, index);
        }
        await this.#details(true);
      } catch { location.assign(href); }
    };
    this.#actions.say(t("unsaved", {error: text}), null, {href, textContent: t("show"), onclick: lead});
  }

  #run(action) {
    const {photo} = this;
    if (photo) this.#actions.run(action, [photo]);
  }

  #live() {
    const slide = this.#swipe.currSlide, {photo} = slide?.data || {};
    if (!photo) return;
    if (slide.content.element?.tagName === "VIDEO") {
      toggle(slide.content.element);
      return;
    }
    if (!slide.data.live) return;
    const old = slide.container.querySelector("video");
    if (old) {
      old.remove();
      return;
    }
    const moving = make("video",
      {className: "pswp__moving", autoplay: true, playsInline: true, controls: true, src: video(photo.hash),
      ariaLabel: t("moving")});
    moving.addEventListener("ended", () => moving.remove());
    moving.addEventListener("error", () => {
      moving.remove();
      this.#actions.say(t("noMoving"));
    });
    const still = slide.content.element;
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
    this.#panel?.show(photo);
    this.#marks();
  }

  #marks() {
    const {photo} = this;
    if (!photo) return;
    this.#heart?.setAttribute("aria-pressed", photo.favorite);
    this.#lock?.setAttribute("aria-pressed", photo.private);
    if (this.#play) this.#play.hidden = !this.#swipe.currSlide?.data.live;
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

  // The library changed below: the same photo is shown where it is now, or what is at its place if it went. `kept`: the
  // photo that moved, {uid, name} with the name of its month.
  async #renewed(kept) {
    const swipe = this.#swipe;
    if (!swipe) return;
    if (!this.#timeline.total) {
      this.close();
      return;
    }
    const {uid, name} = this.#shown, names = kept?.uid === uid ? [kept.name, name] : [name];
    const found = await this.#timeline.locate(uid, names),
      at = found < 0 ? Math.min(swipe.currIndex, this.#timeline.total - 1) : found;
    if (this.#swipe !== swipe) return;
    if (at !== swipe.currIndex) swipe.goTo(at);
    for (const {slide} of swipe.mainScroll.itemHolders) if (slide) swipe.refreshSlideContent(slide.index);
    this.#changed();
  }

  // In text fields, PhotoSwipe's own keys (arrows, Escape, z) are text.
  #typing(event) {
    const {originalEvent: key} = event, field = key.target.closest?.("input, textarea, select, dialog");
    if (key.key.length === 1 && key.key !== " " && !lettersCount()) event.preventDefault();
    if (!field) return;
    event.preventDefault();
    if (key.key === "Escape" && field.tagName !== "DIALOG" && !field.closest("dialog")) field.blur();
  }

  #key(key) {
    if (!this.#swipe || isTyping(key)) return;
    if (key.ctrlKey || key.metaKey || key.altKey) {
      if (key.key === "z") {
        key.preventDefault();
        this.#actions.undo();
      }
      return;
    }
    if (!isShortcut(key)) return;
    const action = actionOf(key.key);
    if (action === "edit" && may("update")) {
      key.preventDefault();
      this.#details(true);
    } else if (action) {
      key.preventDefault();
      this.#run(action);
    } else if (!this.#swipe.opener.isOpen && !this.#swipe.opener.isClosing && EARLY[key.key]) {
      key.preventDefault();
      this.#early.push(EARLY[key.key]);
    } else if (key.key === "i") {
      key.preventDefault();
      this.#details();
    } else if (key.key === " " && !key.target.closest?.("button, a, video")) {
      key.preventDefault();
      this.#live();
    }
  }

  #closed() {
    document.title = this.#title;
    const at = this.#swipe.currIndex;
    this.#actions.line.standIn(document.body);
    this.#swipe = null;
    this.#open = false;
    const {month, index} = this.#place(Math.min(at, this.#timeline.total - 1));
    this.#grid.focus(month, index);
  }
}

// Whether the entry of the history is one of the viewer: the number of its photo can be 0.
export const inViewer = () => history.state?.viewer !== undefined;

// The lower edge of a video belongs to its controls.
function onControls(event) {
  const video_ = event.target?.closest?.("video[controls]");
  if (event.target?.closest?.(".panel")) return true;
  return Boolean(video_) && event.clientY > video_.getBoundingClientRect().bottom - 76;
}

const toggle = (element) => (element.paused ? element.play().catch(() => {}) : element.pause());
