// The question who is on a marked area, with the people of the library to choose from.

import {get} from "./api.js";
import {make} from "./elements.js";
import {t} from "./words.js";

let names = null;

// Asks below the faces; `send(name)` saves the answer.
export async function naming(part, send) {
  part.querySelector("form")?.remove();
  const known = make("datalist", {id: "people-known"}), wrong = make("small", {className: "wrong", role: "alert"});
  const input = make("input", {name: "Name", maxLength: 160, autocomplete: "off", dir: "auto", required: true});
  input.setAttribute("list", known.id);
  const label = make("label", {}, make("span", {textContent: t("whoIsThis")}), input);
  const form = make("form", {className: "edit"}, label, known, wrong);
  part.append(form);
  input.focus();
  let sending = false;
  const save = async () => {
    const name = input.value.trim();
    if (sending || !form.isConnected) return;
    if (!name) {
      form.remove();
      return;
    }
    sending = true;
    try {
      await send(name);
      form.remove();
    } catch (error) {
      wrong.textContent = error.message;
    }
    sending = false;
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    save();
  });
  input.addEventListener("blur", save);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    input.value = "";
    form.remove();
  });
  names ??= get("/subjects?count=1000").catch(() => []);
  known.append(...(await names).map(({Name}) => make("option", {value: Name})));
}
