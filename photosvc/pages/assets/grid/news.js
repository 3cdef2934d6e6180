// Watches the library: the progress of an index run, new and changed photos, and the connection.

import {get} from "./api.js";
import {make} from "./elements.js";
import {t} from "./words.js";

const OFTEN = 3000, SELDOM = 15000;  // milliseconds between two requests during a run, and else
const IDLE = 600000;  // milliseconds without a touch, key or movement after which requests stop
const SHARE = 10;     // requests and their effects take at most this part of the time: one tenth
const SIGNS = ["keydown", "pointerdown", "pointermove", "scroll"];

// Returns whether loading the page again would lose typed values or work.
export const isBusy = () => Boolean(document.querySelector("dialog[open], [data-unsaved], .uploads:not([hidden])")
  || document.activeElement?.matches("input, textarea, select"));

// Calls `changed` when the library has another version than the page.
export function watchLibrary(version, changed) {
  const line = make("p", {className: "indexing muted", hidden: true});
  document.querySelector(".summary")?.append(line);
  const away = make("p", {className: "away"});
  away.setAttribute("role", "status");
  document.querySelector(".search").after(away);
  // The style sheet says so in rows without photos, too.
  const tell = (offline) => {
    if (document.documentElement.classList.toggle("offline", offline) === (away.textContent !== "")) return;
    away.textContent = offline ? t("offline") : "";
  };
  let timer = 0, asking = false, active = performance.now();
  const look = async () => {
    clearTimeout(timer);
    timer = 0;
    if (asking || document.hidden || !navigator.onLine || performance.now() - active > IDLE) return;
    asking = true;
    const begin = performance.now();
    let pause = SELDOM;
    try {
      const {version: now, indexing} = await get("/photos/state");
      tell(false);
      line.hidden = !indexing?.total;
      if (indexing) {
        line.textContent = t("indexing", {done: indexing.done, total: indexing.total});
        pause = OFTEN;
      }
      if (now !== version()) await changed();
    } catch (error) {
      tell(error.status === 0);
      pause = OFTEN;
    }
    asking = false;
    timer = setTimeout(look, Math.max(pause, SHARE * (performance.now() - begin)));
  };
  const notice = () => {
    active = performance.now();
    if (!timer) look();
  };
  for (const name of SIGNS) addEventListener(name, notice, {passive: true});
  document.addEventListener("visibilitychange", notice);
  addEventListener("offline", () => tell(true));
  addEventListener("online", look);
  look();
}
