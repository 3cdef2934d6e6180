// The history of a photo, whose changes can be undone, and actions on its files: show one, rotate it, unstack it.

import {call, get} from "./api.js";
import {confirmed} from "./dialog.js";
import {button, make} from "./elements.js";
import {locale, t} from "./words.js";

const COUNT = 10;
const day = new Intl.DateTimeFormat(locale, {dateStyle: "medium"});
const when = new Intl.DateTimeFormat(locale, {dateStyle: "medium", timeStyle: "short"});
// Values that only follow from others, or say where they come from.
const BEHIND = /Src$|^(CellID|PlaceID|Year|Month|Day|CameraSerial|Stacked)$/;
// The Exif orientation of a picture that is turned to the right by a quarter.
const RIGHT = {1: 6, 2: 7, 3: 8, 4: 5, 5: 2, 6: 3, 7: 4, 8: 1};

// The history of a photo: its `summary` and the `list` of changes; null without changes. `undo(send, names)` takes one
// back that changed values of these names, and shows the photo that is the answer.
export async function historyOf(uid, undo) {
  const changes = await get(`/photos/${uid}/history?count=${COUNT}`).catch(() => []), [last] = changes;
  if (!last) return null;
  const about = [last.ActorName, day.format(new Date(last.CreatedAt))].filter(Boolean).join(", ");
  return {summary: [t("history"), make("small", {textContent: ` · ${about}`})],
    list: make("ul", {}, ...changes.map((change) => line(uid, change, undo)))};
}

/** @param {ChangeRecord} change */
function line(uid, change, takeBack) {
  const values = Object.keys(change.After);
  const labels = values.filter((name) => !BEHIND.test(name)).map((name) => t(name));
  const names = labels.join(", ") || change.Action.replace("photos.", "");
  const undo = button({textContent: t("undo"), ariaLabel: t("undoOf", {names})}, async () => {
    undo.disabled = true;
    try {
      await takeBack(() => call(`/photos/${uid}/history/${change.ID}/undo`, {method: "POST"}), values);
    } catch (error) {
      undo.disabled = false;
      undo.parentElement.querySelector(".wrong")?.remove();
      undo.before(make("small", {className: "wrong", role: "alert", textContent: error.message}));
    }
  });
  const about = [when.format(new Date(change.CreatedAt)), change.ActorName].filter(Boolean).join(" · ");
  return make("li", {}, make("span", {}, `${names} `, make("small", {textContent: about})), undo);
}

/**
 * Buttons for a file. `act` sends a change and shows the photo that it answers with.
 * @param {PhotoRecord} record
 * @param {FileRecord} file
 */
export function fileButtons(record, file, act) {
  if (file.Sidecar) return [];
  const at = `/photos/${record.UID}/files/${file.UID}`;
  const others = record.Files.filter((other) => other !== file && !other.Sidecar);
  const found = [];
  const add = (textContent, title, send) => {
    const made = button({textContent, title, ariaLabel: `${title}: ${file.Name}`}, async () => {
      made.disabled = true;
      try {
        await act(send);
      } finally {
        made.disabled = false;
      }
    });
    found.push(made);
  };
  if (!file.Primary) add(t("show"), t("asMain"), () => call(`${at}/primary`, {method: "POST"}));
  if (file.MediaType !== "video") {
    const body = {Orientation: RIGHT[file.Orientation] ?? 6};
    add(t("turn"), t("rotate"), () => call(`${at}/orientation`, {method: "PUT", body}));
  }
  if (others.length) {
    add(t("unstack"), t("unstack"), async () => {
      const yes = await confirmed(t("askUnstack", {file: file.Name}), t("unstack"));
      return yes ? call(`${at}/unstack`, {method: "POST"}) : null;
    });
  }
  return found;
}
