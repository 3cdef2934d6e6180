// Dialogs, and the question in one; their forms make Enter and Escape work everywhere.

import {make} from "./elements.js";
import {t} from "./words.js";

// Shows a dialog until it is closed; returns the value of the button that closed it.
export async function show(dialog) {
  document.body.append(dialog);
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, {once: true}));
  dialog.remove();
  return dialog.returnValue;
}

// Returns whether the user agrees. `danger`: agreeing takes something away.
export async function confirmed(question, yes, danger = false) {
  const buttons = [make("button", {value: "", textContent: t("cancel")}),
    make("button", {value: "yes", className: danger ? "primary danger" : "primary", textContent: yes})];
  const dialog = make("dialog", {className: "ask", ariaLabel: yes}, make("p", {textContent: question}),
    make("form", {method: "dialog"}, ...buttons));
  return await show(dialog) === "yes";
}
