// The keys, in a dialog.

import {may, site} from "./api.js";
import {show} from "./dialog.js";
import {make} from "./elements.js";
import {countLetters, lettersCount} from "./keys.js";
import {t} from "./words.js";

// Names of texts: keys, their action, and the right that it needs.
const KEYS = [
  ["keysMove", "keyMove"],
  ["Enter", "keyOpen"],
  ["m M, y Y", "keyMonth"],
  ["x", "keySelect"],
  ["keysRange", "keyRange"],
  ["keysAll", "keyAll"],
  ["f", "keyFavorite", "update"],
  ["p", "keyPrivate", "update"],
  ["a", "keyArchive", "update"],
  ["l", "keyAlbum", "albums"],
  ["e", "keyEdit", "update"],
  ["s", "keyShare", "share"],
  ["keysDelete", ...(may("remove") ? ["keyRemove"] : may("purge") ? ["deleteNow"] : ["keyDelete", "delete"])],
  ["d", "keyDownload", "download"],
  ["r", "keyRestore", "restore"],
  ["c", "keyCover", "cover"],
  ["t", "keyTop", "arrange"],
  ["keySpace", "keyTake", "arrange"],
  ["keysUndo", "keyUndo", "update"],
  ...(site.visitor ? [] : [["/", "keySearch"]]),
  ["S", "keySlideshow"],
  ["keysViewer", "keyViewer"],
  ["keysStars", "keyStars", "update"],
];

export function help() {
  const shown = KEYS.filter(([, , needed]) => !needed || may(needed));
  const rows = shown.flatMap(([key, meaning]) => [
    make("dt", {textContent: t(key)}), make("dd", {textContent: t(meaning)}),
  ]);
  const letters = make("input", {type: "checkbox", name: "letters", checked: lettersCount()});
  letters.addEventListener("change", () => countLetters(letters.checked));
  show(make("dialog", {className: "ask help", ariaLabel: t("keys")}, make("h2", {textContent: t("keys")}),
    make("dl", {}, ...rows), make("label", {className: "check"}, letters, t("letters")),
    make("p", {className: "muted", textContent: t("lettersKept")}),
    make("form", {method: "dialog"}, make("button", {className: "primary", textContent: t("close")}))));
}
