// Videos and live photos play in their tiles, without sound: under the pointer, or while they are focused.

import {video} from "./api.js";
import {isStill, make} from "./elements.js";
import {isMoving} from "./tile.js";

const WAIT = 250;

// Begins with the event `first`.
export function watchMoving(root, grid, first) {
  let timer = 0, shown = null;
  const stop = () => {
    clearTimeout(timer);
    shown?.video?.remove();
    if (shown) shown.video = null;
    shown = null;
  };
  const begin = (event) => {
    const tile = grid.tileOf(event.target);
    if (tile === shown) return;
    stop();
    if (!tile?.photo || !isMoving(tile) || isStill()) return;
    shown = tile;
    timer = setTimeout(() => {
      if (!tile.photo) return;
      tile.video = make("video",
        {muted: true, loop: true, playsInline: true, autoplay: true, src: video(tile.photo.hash), ariaHidden: "true"});
      tile.video.addEventListener("error", stop);
      tile.item.insertBefore(tile.video, tile.badges);
    }, WAIT);
  };
  const pointed = (event) => { if (event.pointerType !== "touch") begin(event); };
  root.addEventListener("pointerover", pointed);
  root.addEventListener("pointerleave", stop);
  root.addEventListener("focusin", begin);
  root.addEventListener("focusout", stop);
  pointed(first);
}
