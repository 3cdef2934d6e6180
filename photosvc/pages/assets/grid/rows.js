// Justified rows: a large day fills rows of its own, small days share one, each with its heading.

// `columns`: days [[day, count], …] and ratio, width by height in hundredths. `size`: width, row, gap and between (days
// that share a row) in pixels; head, the height of a heading; after, the room below a day. Gives boxes relative to the
// month.
export function layOut({days, ratio}, {width, row, gap, between, head, after}) {
  const count = ratio.length;
  const x = new Float32Array(count), y = new Float32Array(count), w = new Float32Array(count),
    h = new Float32Array(count);
  const boxes = [];
  let top = 0, first = 0, shared = [], sharedRatio = 0;

  const place = (from, to, left, upper, height) => {
    for (let at = from; at < to; at++) {
      const wide = shape(ratio[at]) * height;
      x[at] = left;
      y[at] = upper;
      w[at] = wide;
      h[at] = height;
      left += wide + gap;
    }
    return left - gap;
  };

  const closeShared = () => {
    if (!shared.length) return;
    const gaps = shared.reduce((sum, [, from, to]) => sum + (to - from - 1) * gap, 0) + (shared.length - 1) * between;
    const height = Math.min((width - gaps) / sharedRatio, row * 1.15);
    let left = 0;
    for (const [day, from, to] of shared) {
      const end = place(from, to, 0, head, height);
      boxes.push({day, first: from, last: to, top, left, width: Math.min(Math.max(end, 96), width - left),
        height: head + height});
      left += end + between;
    }
    top += head + height + after;
    shared = [];
    sharedRatio = 0;
  };

  for (const [day, number] of days) {
    const last = first + number;
    let sum = 0;
    for (let at = first; at < last; at++) sum += shape(ratio[at]);
    if (sum * row < width * 0.62) {
      const days_ = shared.length ? between : 0;
      if (shared.length && (sharedRatio + sum) * row + days_ > width * 1.2) closeShared();
      shared.push([day, first, last]);
      sharedRatio += sum;
      if (sharedRatio * row > width * 0.85) closeShared();
    } else {
      closeShared();
      const rows = Math.min(Math.max(1, Math.round((sum * row) / width)), number);
      let at = first, done = 0, upper = head;
      for (let number_ = 1; number_ <= rows; number_++) {
        const from = at, goal = (sum * number_) / rows;
        let own = 0;
        // A picture goes into the row in which its middle lies; every row has one, and leaves one for each row behind.
        const isOpen = () => at === from || done + shape(ratio[at]) / 2 <= goal || number_ === rows;
        while (at < last - (rows - number_) && isOpen()) {
          own += shape(ratio[at]);
          done += shape(ratio[at]);
          at++;
        }
        const height = Math.min((width - (at - from - 1) * gap) / own, row * 1.7);
        place(from, at, 0, upper, height);
        upper += height + gap;
      }
      boxes.push({day, first, last, top, left: 0, width, height: upper - gap});
      top += upper - gap + after;
    }
    first = last;
  }
  closeShared();
  return {days: boxes, x, y, w, h, height: top};
}

// Very wide and very high pictures are cropped in the grid.
export const shape = (hundredths) => Math.min(Math.max(hundredths, 45), 350) / 100;

// The height of a month that is not known yet, from its number of photos.
export const guessHeight = (count, {width, row, head, after}) =>
  Math.max(1, Math.round((count * 1.25 * row) / width)) * row + Math.ceil(Math.min(count / 12, 31)) * (head + after);
