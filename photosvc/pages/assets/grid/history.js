// The last changes of a photo, each of which can be taken back.

import {call, get} from "./api.js";
import {make} from "./icons.js";
import {locale, t} from "./words.js";

const COUNT = 10;
const when = new Intl.DateTimeFormat(locale, {dateStyle: "medium", timeStyle: "short"});
// Values that only follow from others, or say where they come from.
const BEHIND = /Src$|^(CellID|PlaceID|Year|Month|Day|CameraSerial)$/;

// The element of the history of a photo; empty without changes. `undo(send, names)` takes one back that changed values
// of these names, and shows the photo that is the answer.
export async function historyOf(uid, undo) {
  const changes = await get(`/photos/${uid}/history?count=${COUNT}`).catch(() => []);
  if (!changes.length) return "";
  return make("div", {className: "history"}, make("h3", {textContent: t("history")}),
    make("ul", {}, ...changes.map((one) => line(uid, one, undo))));
}

function line(uid, one, takeBack) {
  const known = Object.keys(one.After).filter((name) => !BEHIND.test(name)).map((name) => t(name));
  const names = known.join(", ") || one.Action.replace("photos.", ""),
    undo = make("button", {type: "button", textContent: t("undo"), ariaLabel: t("undoOf", {names})});
  undo.addEventListener("click", async () => {
    undo.disabled = true;
    try {
      await takeBack(() => call(`/photos/${uid}/history/${one.ID}/undo`, {method: "POST"}), Object.keys(one.After));
    } catch (error) {
      undo.disabled = false;
      undo.parentElement.querySelector(".wrong")?.remove();
      undo.before(make("small", {className: "wrong", role: "alert", textContent: error.message}));
    }
  });
  return make("li", {},
    make("span", {}, `${names} `,
    make("small", {textContent: [when.format(new Date(one.CreatedAt)), one.ActorName].filter(Boolean).join(" · ")})),
    undo);
}
