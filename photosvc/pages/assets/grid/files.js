// Actions on single files of a photo: show a file, rotate it, make it a photo of its own.

import {call} from "./api.js";
import {confirmed} from "./confirm.js";
import {make} from "./icons.js";
import {t} from "./words.js";

// The Exif orientation of a picture that is turned to the right by a quarter.
const RIGHT = {1: 6, 2: 7, 3: 8, 4: 5, 5: 2, 6: 3, 7: 4, 8: 1};

// Buttons for a file. `act` sends a change and shows the photo that it answers with.
export function fileButtons(record, file, act) {
  if (file.Error || file.Sidecar) return [];
  const at = `/photos/${record.UID}/files/${file.UID}`,
    others = record.Files.filter((other) => other !== file && !other.Sidecar);
  const button = (textContent, title, send) => {
    const made = make("button", {type: "button", textContent, title, ariaLabel: `${title}: ${file.Name}`});
    made.addEventListener("click", async () => {
      made.disabled = true;
      try { await act(send); } finally { made.disabled = false; }
    });
    return made;
  };
  const found = [];
  if (!file.Primary) found.push(button(t("show"), t("asMain"), () => call(`${at}/primary`, {method: "POST"})));
  if (file.MediaType !== "video") {
    found.push(button(t("turn"), t("rotate"),
      () => call(`${at}/orientation`, {method: "PUT", body: {Orientation: RIGHT[file.Orientation] ?? 6}})));
  }
  if (others.length) {
    found.push(button(t("unstack"), t("unstack"), async () => {
      const yes = await confirmed(t("askUnstack", {file: file.Name}), t("unstack"));
      return yes ? call(`${at}/unstack`, {method: "POST"}) : null;
    }));
  }
  return found;
}
