// Justified rows: a large day fills rows of its own, small days share one, each with its heading.

// Returns boxes of days and photos in pixels of the month. `days`: [day, count]; `ratio`: width by height in
// hundredths. `size`: width, row, gap, between (days of one row), head (the height of a heading), and after (the room
// below a day).
export function layOut({days, ratio}, size) {
  const layout = new Rows(ratio, size);
  let first = 0;
  for (const [day, count] of days) {
    layout.add(day, first, first + count);
    first += count;
  }
  return layout.end();
}

class Rows {
  #ratio; #size;
  x; y; w; h;
  #boxes = [];
  #top = 0;
  #shared = [];  // the days of the row that is not full yet: [day, first, last]
  #sharedRatio = 0;

  constructor(ratio, size) {
    this.#ratio = ratio;
    this.#size = size;
    [this.x, this.y, this.w, this.h] = [1, 2, 3, 4].map(() => new Float32Array(ratio.length));
  }

  add(day, first, last) {
    const {width, row, between} = this.#size;
    let sum = 0;
    for (let at = first; at < last; at++) sum += shape(this.#ratio[at]);
    if (sum * row >= width * 0.62) {
      this.#closeShared();
      this.#fill(day, first, last, sum);
      return;
    }
    const gap = this.#shared.length ? between : 0;
    if (this.#shared.length && (this.#sharedRatio + sum) * row + gap > width * 1.2) this.#closeShared();
    this.#shared.push([day, first, last]);
    this.#sharedRatio += sum;
    if (this.#sharedRatio * row > width * 0.85) this.#closeShared();
  }

  end() {
    this.#closeShared();
    const {x, y, w, h} = this;
    return {days: this.#boxes, x, y, w, h, height: this.#top};
  }

  // Puts photos beside each other; returns where the last one ends.
  #place(from, to, upper, height) {
    const {x, y, w, h} = this;
    let left = 0;
    for (let at = from; at < to; at++) {
      x[at] = left;
      y[at] = upper;
      w[at] = shape(this.#ratio[at]) * height;
      h[at] = height;
      left += shape(this.#ratio[at]) * height + this.#size.gap;
    }
    return left - this.#size.gap;
  }

  // Ends the row that small days share.
  #closeShared() {
    if (!this.#shared.length) return;
    const {width, row, gap, between, head, after} = this.#size;
    const gaps = this.#shared.reduce((sum, [, from, to]) => sum + (to - from - 1) * gap, 0);
    const room = width - gaps - (this.#shared.length - 1) * between;
    const height = Math.min(room / this.#sharedRatio, row * 1.15), top = this.#top;
    let left = 0;
    for (const [day, first, last] of this.#shared) {
      const end = this.#place(first, last, head, height), most = width - left;
      this.#boxes.push({day, first, last, top, left, width: Math.min(Math.max(end, 96), most), height: head + height});
      left += end + between;
    }
    this.#top += head + height + after;
    this.#shared = [];
    this.#sharedRatio = 0;
  }

  // Fills rows with the photos of a large day, whose shapes have this sum.
  #fill(day, first, last, sum) {
    const {width, row, gap, head, after} = this.#size, widthOf = (at) => shape(this.#ratio[at]);
    const rows = Math.min(Math.max(1, Math.round((sum * row) / width)), last - first);
    let at = first, done = 0, upper = head;
    for (let number = 1; number <= rows; number++) {
      const from = at, goal = (sum * number) / rows;
      let own = 0;
      // A picture goes into the row of its middle; every row has one, and leaves one for each later row.
      const isOpen = () => at === from || done + widthOf(at) / 2 <= goal || number === rows;
      while (at < last - (rows - number) && isOpen()) {
        own += widthOf(at);
        done += widthOf(at);
        at++;
      }
      const height = Math.min((width - (at - from - 1) * gap) / own, row * 1.7);
      this.#place(from, at, upper, height);
      upper += height + gap;
    }
    this.#boxes.push({day, first, last, top: this.#top, left: 0, width, height: upper - gap});
    this.#top += upper - gap + after;
  }
}

// Very wide and very tall pictures are cropped in the grid.
export const shape = (hundredths) => Math.min(Math.max(hundredths, 45), 350) / 100;

// The estimated height of a month that is not loaded, from its number of photos.
export const guessHeight = (count, {width, row, head, after}) =>
  Math.max(1, Math.round((count * 1.25 * row) / width)) * row + Math.ceil(Math.min(count / 12, 31)) * (head + after);
