// A question in a dialog; its form makes Enter and Escape work everywhere. `danger`: yes takes something away.

import {make} from "./icons.js";
import {t} from "./words.js";

export function confirmed(question, yes, danger = false) {
  const dialog = make("dialog", {className: "ask", ariaLabel: yes}, make("p", {textContent: question}),
    make("form", {method: "dialog"}, make("button", {value: "", textContent: t("cancel")}),
      make("button", {value: "yes", className: danger ? "primary danger" : "primary", textContent: yes})));
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => {
    dialog.remove();
    resolve(dialog.returnValue === "yes");
  }));
}
