// A dialog with values for all selected photos: empty fields leave the values of each photo unchanged.

import {portions, post} from "./api.js";
import {show} from "./dialog.js";
import {button, make} from "./elements.js";
import {GROUPS, MAIN, TIME, Wrong, control, fieldOf, numeric, sent} from "./fields.js";
import {photos as counted, t} from "./words.js";

const HOUR = 3600;  // seconds
const STAYS = t("unchanged");
const ADD = {name: "add_keywords", label: t("addKeywords"), attributes: {placeholder: t("keywordsExample")}};
const REMOVE = {name: "remove_keywords", label: t("removeKeywords"), attributes: {}};
const SHIFT = {name: "shift", label: t("shift"), attributes: {placeholder: "-1.5", inputMode: "decimal"}};
const FIRST = [...MAIN, ADD, REMOVE, TIME[0], SHIFT];

// Edits photos; returns the change {photos, title, moved, undo}, or null.
export async function editing(list, change) {
  const entries = [];
  const entry = (field) => {
    const input = control(field, `edit-${field.name}`, STAYS);
    entries.push([field, input]);
    return [make("label", {htmlFor: input.id, textContent: field.label}), input];
  };
  const wrong = make("p", {className: "alert", id: "edit-wrong", role: "alert", hidden: true});
  const cancel = button({textContent: t("cancel")}, () => dialog.close());
  const save = make("button", {className: "primary", textContent: t("change", {num: list.length})});
  const form = make("form", {noValidate: true}, make("h2", {textContent: t("editMany", {num: list.length})}),
    make("p", {className: "muted", textContent: t("emptyStay")}), wrong, ...FIRST.flatMap(entry),
    ...GROUPS.map(([title, fields]) =>
      make("details", {}, make("summary", {textContent: title}), ...fields.flatMap(entry))),
    make("div", {className: "row"}, cancel, save));
  const dialog = make("dialog", {className: "ask values", ariaLabel: t("editMany", {num: list.length})}, form);
  form.addEventListener("input", () => form.toggleAttribute("data-unsaved", entries.some(([, input]) => input.value)));
  let done = null;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (save.disabled) return;
    save.disabled = true;
    wrong.hidden = true;
    for (const [, input] of entries) input.removeAttribute("aria-invalid");
    try {
      const body = values(entries.map(([field, input]) => [field, input.value.trim()]));
      done = {...await send(list, body, change), title: body.values.Title,
        moved: Boolean(body.shift || body.values.TakenAtLocal || body.values.TimeZone || "Lat" in body.values)};
      dialog.close();
    } catch (error) {
      report(error, entries, wrong, save);
    } finally {
      save.disabled = false;
    }
  });
  await show(dialog);
  return done;
}

// Shows an error beside its field, which gets the focus.
function report(error, entries, wrong, save) {
  const name = fieldOf(error), input = entries.find(([field]) => field.name === name)?.[1];
  wrong.textContent = input ? error.details[0].message ?? error.message : error.message;
  wrong.hidden = false;
  if (input?.closest("details")) input.closest("details").open = true;
  input?.after(wrong);
  input?.setAttribute("aria-invalid", "true");
  input?.setAttribute("aria-describedby", wrong.id);
  (input ?? save).focus();
  wrong.scrollIntoView({block: "nearest"});
}

// The body of the request for pairs of fields and typed texts.
function values(typed) {
  const body = {values: {}};
  for (const [field, text] of typed) {
    if (!text) continue;
    if (field === SHIFT) body.shift = Math.round(numeric(text, SHIFT.name, t("typeHours")) * HOUR);
    else if (field === ADD || field === REMOVE) body[field.name] = text;
    else {
      const {Details, ...more} = sent(field, text);
      Object.assign(body.values, more);
      if (Details) body.values.Details = {...body.values.Details, ...Details};
    }
  }
  if (Object.keys(body).length === 1 && !Object.keys(body.values).length) throw new Wrong("Title", t("fillIn"));
  return body;
}

// Changes all photos or none: after an error, the changes made so far are undone.
export async function send(list, body, change) {
  const edits = [];
  let total = 0;
  const undo = () => change(async () => {
    let left = 0;
    // Another try continues after the undone changes.
    while (edits.length) {
      left += (await post("/batch/photos/undo", edits[0])).left;
      edits.shift();
    }
    return left ? t("undoneBut", {num: left}) : "";
  });
  try {
    await change(async () => {
      for (const photos of portions(list)) {
        const keep = ({change: edit}) => edit && edits.push({photos, change: edit});
        try {
          const done = await post("/batch/photos/edit", {photos, ...body});
          total += done.photos;
          keep(done);
        } catch (error) {
          keep(error.done);
          throw error;
        }
      }
    });
  } catch (error) {
    if (edits.length) {
      await undo();
      for (const part of [error, ...error.details]) part.message = t("takenBack", {error: part.message});
    }
    throw error;
  }
  return {photos: total, text: t("changed", {total, photos: counted(list.length)}), undo: edits.length ? undo : null};
}
