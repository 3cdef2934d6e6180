// Values that all selected photos get, in a dialog: what is left empty stays as each photo has it.

import {portions, post} from "./api.js";
import {make} from "./icons.js";
import {number, photos as counted} from "./words.js";

const HOUR = 3600;  // seconds
const FIELDS = [
  ["Title", "Title", {maxLength: 200}],
  ["Description", "Description", {maxLength: 4096}],
  ["add_keywords", "Add keywords", {placeholder: "lake, boat"}],
  ["remove_keywords", "Remove keywords", {}],
  ["TakenAtLocal", "Date and time", {type: "datetime-local", step: 1}],
  ["shift", "Move each time by hours", {placeholder: "-1.5", inputMode: "decimal"}],
  ["Position", "Position", {placeholder: "47.56903, 9.37510"}],
  ["Artist", "Artist", {maxLength: 255}],
  ["Copyright", "Copyright", {maxLength: 255}],
  ["License", "License", {maxLength: 255}],
  ["Notes", "Notes", {maxLength: 4096}],
];
const DETAILS = new Set(["Artist", "Copyright", "License", "Notes"]);

class Wrong extends Error {
  constructor(field, message) { super(message); this.details = [{field, message}]; }
}

// Edits these photos; gives what was changed, {photos, title, moved, undo}, or null.
export async function editing(list, change) {
  const inputs = FIELDS.map(([name, , more]) => make("input", {name, id: `edit-${name}`, autocomplete: "off", dir: "auto", ...more}));
  const wrong = make("p", {className: "alert", id: "edit-wrong", hidden: true});
  wrong.setAttribute("role", "alert");
  const cancel = make("button", {type: "button", textContent: "Cancel"}), save = make("button", {className: "primary", textContent: `Change ${counted(list.length)}`});
  const form = make("form", {noValidate: true}, make("h2", {textContent: `Edit ${counted(list.length)}`}),
    make("p", {className: "muted", textContent: "What you leave empty stays as it is."}), wrong,
    ...inputs.flatMap((input, at) => [make("label", {htmlFor: input.id, textContent: FIELDS[at][1]}), input]), make("div", {className: "row"}, cancel, save));
  const dialog = make("dialog", {className: "ask values", ariaLabel: `Edit ${counted(list.length)}`}, form);
  cancel.addEventListener("click", () => dialog.close());
  let done = null;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (save.disabled) return;
    save.disabled = true;
    wrong.hidden = true;
    for (const input of inputs) input.removeAttribute("aria-invalid");
    try {
      const body = values(Object.fromEntries(inputs.map(({name, value}) => [name, value.trim()])));
      done = {...await send(list, body, change), title: body.values.Title, moved: Boolean(body.shift || body.values.TakenAtLocal)};
      dialog.close();
    } catch (error) {
      const name = error.details?.[0]?.field?.split(".").at(-1) ?? "";
      const input = inputs.find((one) => one.name === (/^(Lat|Lng)$/.test(name) ? "Position" : name));
      wrong.textContent = input ? error.details[0].message ?? error.message : error.message;
      wrong.hidden = false;
      input?.after(wrong);
      input?.setAttribute("aria-invalid", "true");
      input?.setAttribute("aria-describedby", wrong.id);
      (input ?? save).focus();
      wrong.scrollIntoView({block: "nearest"});
    } finally { save.disabled = false; }
  });
  document.body.append(dialog);
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener("close", resolve));
  dialog.remove();
  return done;
}

// The body of the request for what was typed.
function values(typed) {
  const body = {values: {}}, details = {};
  for (const [name, text] of Object.entries(typed)) {
    if (!text) continue;
    if (name === "TakenAtLocal") body.values[name] = `${text.length === 16 ? `${text}:00` : text}Z`;
    else if (name === "shift") {
      const hours = Number(text.replace(",", ".").replace("−", "-"));
      if (!Number.isFinite(hours)) throw new Wrong(name, "Type a number of hours, such as -1.5.");
      body.shift = Math.round(hours * HOUR);
    } else if (name === "Position") {
      const parts = text.split(/\s*[,;\s]\s*/).map(Number);
      if (parts.length !== 2 || !parts.every(Number.isFinite)) throw new Wrong(name, "Type latitude and longitude, such as 47.56903, 9.37510.");
      [body.values.Lat, body.values.Lng] = parts;
    } else if (name.endsWith("_keywords")) body[name] = text;
    else (DETAILS.has(name) ? details : body.values)[name] = text;
  }
  if (Object.keys(details).length) body.values.Details = details;
  if (Object.keys(body).length === 1 && !Object.keys(body.values).length) throw new Wrong("Title", "Nothing is typed yet.");
  return body;
}

// All of the photos, or none: what was changed before an error is taken back.
async function send(list, body, change) {
  const edits = [];
  let total = 0;
  const undo = () => change(async () => {
    let left = 0;
    for (const edit of edits) left += (await post("/batch/photos/undo", edit)).left;
    return left ? `Taken back, but for ${counted(left)} that changed since` : "";
  });
  try {
    await change(async () => {
      for (const photos of portions(list)) {
        const {photos: changed, change: edit} = await post("/batch/photos/edit", {photos, ...body});
        total += changed;
        if (edit) edits.push({photos, change: edit});
      }
    });
  } catch (error) {
    if (edits.length) await undo();
    throw error;
  }
  return {photos: total, text: `${number(total)} of ${counted(list.length)} changed`, undo: edits.length ? undo : null};
}
