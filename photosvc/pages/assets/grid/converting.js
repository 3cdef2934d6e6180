// A video that browsers cannot play before the service has converted it: its poster stays, and it begins by itself.

import {HEADERS, parsed} from "./api.js";
import {make} from "./elements.js";
import {t} from "./words.js";

const PAUSE = 1000;  // milliseconds; the service, too, waits a while before it answers

// Waits for the conversion of the video of an element, and tells its progress.
export async function convert(video) {
  const {src} = video, isReady = "ready" in video.dataset;
  // The browser cannot play even what the service made.
  const textContent = t(isReady ? "noVideo" : "preparing");
  const told = make("p", {className: "pswp__preparing", role: "status", textContent});
  video.controls = false;
  video.removeAttribute("src");
  video.load();
  while (document.querySelector(".pswp")) {
    // The request may have failed before the element is in the viewer.
    if (video.isConnected && !told.isConnected) video.after(told);
    if (isReady) return;
    const state = video.isConnected ? await ask(src) : {};
    if (state.ready) {
      told.remove();
      video.dataset.ready = "";
      Object.assign(video, {src, controls: true});
      if (!video.closest("[aria-hidden=true]")) video.play().catch(() => {});
      return;
    }
    if (state.text && told.textContent !== state.text) told.textContent = state.text;
    if (state.failed) return;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

// Whether the video is `ready` or `failed`, and the `text` that tells it.
async function ask(src) {
  try {
    const answer = await fetch(src, {credentials: "same-origin", headers: {...HEADERS, Range: "bytes=0-0"}});
    if (answer.ok) return {ready: true};
    const data = parsed(await answer.text()), [, share] = /(\d+)\s?%/.exec(data?.error) ?? [];
    if (answer.status !== 503) return {failed: true, text: data?.error ?? t("noVideo")};
    return {text: share ? t("preparingShare", {percent: `${share} %`}) : data?.error};
  } catch {
    return {text: t("unreachable")};
  }
}
