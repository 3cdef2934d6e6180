// The scrubber at the edge of the screen: the months of the search in proportion to their photos, or all positions.

import {make} from "./elements.js";

const LEAST = 22;  // pixels between two labels of years

export class Scrubber {
  #timeline; #window; #element; #label; #thumb; #years;
  #dragging = false;
  #frame = 0;
  #target = 0;
  #height = 0;
  #top = 0;
  #shown = -1;

  constructor(root, timeline, grid) {
    this.#timeline = timeline;
    this.#window = grid;
    this.#years = make("div", {className: "years"});
    this.#thumb = make("div", {className: "thumb"});
    this.#label = make("span", {className: "bubble", lang: navigator.language, hidden: true});
    this.#element = make("div",
      {className: "scrubber", tabIndex: 0, hidden: true, role: "slider", ariaLabel: timeline.label,
      ariaOrientation: "vertical"}, this.#years, this.#thumb, this.#label);
    const element = this.#element;
    root.after(element);
    element.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      event.preventDefault();
      element.focus({preventScroll: true});
      element.setPointerCapture(event.pointerId);
      this.#dragging = true;
      element.classList.add("held");
      this.#move(event);
    });
    element.addEventListener("pointermove", (event) => this.#dragging ? this.#move(event) : this.#hint(event));
    for (const name of ["pointerup", "pointercancel"]) {
      element.addEventListener(name, () => {
        this.#dragging = false;
        element.classList.remove("held");
        this.#label.hidden = true;
      });
    }
    element.addEventListener("pointerleave", () => { if (!this.#dragging) this.#label.hidden = true; });
    element.addEventListener("keydown", (event) => this.#key(event));
    grid.addEventListener("move", ({detail}) => this.show(detail));
    new ResizeObserver(() => this.draw()).observe(element);
    this.draw();
  }

  // The share of all photos before a month.
  #share(month) { return this.#timeline.total ? this.#timeline.begins[month] / this.#timeline.total : 0; }

  draw() {
    const {months} = this.#timeline;
    this.#element.hidden = months.length < 2;
    const {height, top: upper} = this.#element.getBoundingClientRect();
    this.#height = height;
    this.#top = upper;
    this.#element.ariaValueMin = 0;
    this.#element.ariaValueMax = Math.max(0, months.length - 1);
    const marks = [];
    let year = "", below = -LEAST;
    if (this.#timeline.headed) months.forEach(([name], month) => {
      const top = this.#share(month) * height, own = this.#timeline.part(month);
      if (own === year || name === "0000-00") return;
      year = own;
      if (top - below < LEAST) return;
      const mark = make("span", {textContent: year});
      mark.style.top = `${top}px`;
      marks.push(mark);
      below = top;
    });
    this.#shown = -1;
    this.#years.replaceChildren(...marks);
    if (months.length) this.show(this.#window.place());
  }

  show({month, offset, height}) {
    const entry = this.#timeline.months[month];
    if (!entry) return;
    const share = this.#share(month) + (Math.min(1, offset / height) * entry[1]) / this.#timeline.total;
    this.#thumb.style.transform = `translateY(${share * this.#height}px)`;
    if (month === this.#shown) return;
    this.#shown = month;
    this.#element.ariaValueNow = month;
    this.#element.ariaValueText = this.#timeline.told(month);
  }

  #at(event) {
    return Math.min(Math.max((event.clientY - this.#top) / this.#height, 0), 0.999999);
  }

  #hint(event) {
    const {month, index} = this.#timeline.at(Math.floor(this.#at(event) * this.#timeline.total));
    this.#label.hidden = false;
    this.#label.textContent = this.#timeline.brief(month, index);
    this.#label.style.top = `${Math.min(Math.max(event.clientY - this.#top, 14), this.#height - 14)}px`;
  }

  #move(event) {
    this.#hint(event);
    this.#target = this.#at(event) * this.#timeline.total;
    if (!this.#frame) this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#jump();
    });
  }

  #jump() {
    const {month, index} = this.#timeline.at(Math.floor(this.#target));
    // A month of a few pixels is shown from its beginning.
    const count = this.#timeline.months[month][1], wide = (count / this.#timeline.total) * this.#height;
    const share = wide < 6 ? 0 : index / count;
    this.#window.goToShare(month, share);
    this.show({month, offset: share, height: 1});
  }

  #key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey || !this.go(event.key)) return;
    event.preventDefault();
  }

  // Moves by an entry, or by a year or tenth of all, as keys of a slider do. Returns whether the key is one.
  go(key) {
    const {months} = this.#timeline, {month} = this.#window.place();
    const year = (step) => {
      const own = this.#timeline.part(month);
      let at = month;
      while (months[at + step] && this.#timeline.part(at) === own) at += step;
      return at;
    };
    const moves = {
      ArrowDown: () => month + 1, ArrowRight: () => month + 1, ArrowUp: () => month - 1, ArrowLeft: () => month - 1,
      PageDown: () => year(1), PageUp: () => year(-1), Home: () => 0, End: () => months.length - 1,
    };
    if (!moves[key] || !months[month]) return false;
    const to = Math.min(Math.max(moves[key](), 0), months.length - 1);
    this.#window.goTo(to, 0);
    this.show({month: to, offset: 0, height: 1});
    return true;
  }
}
