// The photos of the viewer one after the other over the whole screen: pictures for five seconds, videos to their end.

import {isStill, make, place} from "./elements.js";
import {t} from "./words.js";

const SHOWN = 5000, FADE = 600;  // milliseconds of a picture, and of the change to the next one
const LATE = 15000;  // milliseconds after which a video that does not begin is passed over

export class Slideshow {
  #swipe; #ended;
  #timer = 0;
  #held = false;
  #over = false;
  #lock = null;
  #told = make("p", {className: "held"});
  #left = () => { if (!document.fullscreenElement) this.stop(); };

  // `ended` is called when somebody ends it, or closes the viewer.
  constructor(swipe, ended) {
    this.#swipe = swipe;
    this.#ended = ended;
    const {element} = swipe;
    this.#told.setAttribute("role", "status");
    element.append(this.#told);
    element.classList.add("playing");
    element.classList.remove("pswp--ui-visible");  // a touch brings the buttons back
    swipe.on("change", () => this.#wait());
    swipe.on("destroy", () => this.stop());
    document.addEventListener("fullscreenchange", this.#left);
    element.requestFullscreen?.().catch(() => {});
    // Without it, phones turn the screen off.
    navigator.wakeLock?.request("screen").then((lock) => {
      this.#lock = lock;
      if (this.#over) lock.release();
    }, () => {});
    this.#wait();
  }

  // Holds the picture that is shown, or goes on.
  hold() {
    this.#held = !this.#held;
    this.#told.textContent = this.#held ? t("held") : "";
    if (this.#held) this.#swipe.currSlide?.content.element?.pause?.();
    this.#wait();
  }

  stop() {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#timer);
    document.removeEventListener("fullscreenchange", this.#left);
    this.#lock?.release();
    this.#told.remove();
    this.#swipe.element?.classList.remove("playing");
    this.#swipe.element?.classList.add("pswp--ui-visible");
    if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
    this.#ended();
  }

  #wait() {
    clearTimeout(this.#timer);
    if (this.#held || this.#over) return;
    const {element} = this.#swipe.currSlide?.content ?? {};
    if (element?.tagName !== "VIDEO") {
      this.#timer = setTimeout(() => this.#next(), SHOWN);
      return;
    }
    element.onended = () => { if (element === this.#swipe.currSlide?.content.element && !this.#held) this.#next(); };
    element.play().catch(() => {});
    this.#timer = setTimeout(() => { if (!element.currentTime) this.#next(); }, LATE);
  }

  #next() {
    const swipe = this.#swipe, {element} = swipe.currSlide?.content ?? {};
    if (this.#over) return;
    if (swipe.getNumItems() < 2) {
      this.#wait();
      return;
    }
    const fades = element?.tagName === "IMG" && !isStill();
    if (fades) {
      const {left, top, width, height} = element.getBoundingClientRect();
      const before = make("img", {className: "fading", src: element.currentSrc || element.src, alt: ""});
      place(before, {left, top, width, height});
      swipe.element.append(before);
      before.animate([{opacity: 1}, {opacity: 0}], {duration: FADE, fill: "forwards"}).onfinish = () => before.remove();
    }
    swipe.goTo((swipe.currIndex + 1) % swipe.getNumItems());
    if (fades) swipe.currSlide?.holderElement?.animate([{opacity: 0}, {opacity: 1}], FADE);
  }
}
