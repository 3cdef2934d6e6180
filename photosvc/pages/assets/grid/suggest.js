// Suggestions below the search field (a combobox with a listbox, as WAI-ARIA has it).

import {asked, get, site} from "./api.js";
import {make} from "./icons.js";
import {number, t} from "./words.js";

const WAIT = 120;

export function suggestIn(field) {
  const list = make("ul", {id: "suggestions", className: "suggestions", hidden: true});
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", t("suggestions"));
  field.parentElement.append(list);
  for (const [name, value] of Object.entries({role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": "suggestions"})) {
    field.setAttribute(name, value);
  }
  let timer = 0, running = null, found = null, chosen = -1;

  const close = () => {
    list.hidden = true;
    chosen = -1;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
    clearTimeout(timer);
    running?.abort();
  };

  const mark = (index) => {
    chosen = index;
    [...list.children].forEach((option, at) => option.setAttribute("aria-selected", at === index));
    if (index >= 0) {
      field.setAttribute("aria-activedescendant", list.children[index].id);
      list.children[index].scrollIntoView({block: "nearest"});
    } else field.removeAttribute("aria-activedescendant");
  };

  // Positions of the API are counted in code points.
  const points = (text) => [...text];

  const ask = async () => {
    running?.abort();
    const own = running = new AbortController();
    const query = field.value, at = points(query.slice(0, field.selectionStart ?? query.length)).length;
    try {
      const answer = await get(`/suggest${asked({q: query, at: String(at)})}`, own.signal);
      if (document.activeElement !== field || field.value !== query) return;
      found = {...answer, query};
      show();
    } catch { if (running === own) close(); }  // not when a later one took its place
  };

  const show = () => {
    list.replaceChildren(...found.suggestions.map((one, index) => {
      const count = one.count === null ? "" : `${number(one.count)}${one.more ? "+" : ""}`;
      const option = make("li", {id: `suggestion-${index}`},
        make("span", {className: "kind", textContent: t(one.kind)}),
        make("span", {className: "name", dir: "auto", textContent: one.kind === "filter" ? one.text : one.label}),
        make("span", {className: "help", textContent: one.help || count}));
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      // The field keeps the focus; a finger may scroll the list.
      option.addEventListener("mousedown", (event) => event.preventDefault());
      option.addEventListener("click", () => take(index));
      return option;
    }));
    list.hidden = !found.suggestions.length;
    field.setAttribute("aria-expanded", String(!list.hidden));
    mark(-1);
  };

  const take = (index) => {
    const one = found.suggestions[index], all = points(found.query);
    const open = one.text.endsWith(":");  // a filter: its value comes next
    const before = all.slice(0, found.start).join("") + one.text + (open ? "" : " ");
    field.value = before + all.slice(found.end).join("").trimStart();
    field.setSelectionRange(before.length, before.length);
    close();
    field.focus();
    if (open) ask();
  };

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, WAIT);
  });
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Escape" && !list.hidden) { event.preventDefault(); close(); return; }
    if (event.key === "ArrowDown" && list.hidden) { event.preventDefault(); ask(); return; }
    if (list.hidden) return;
    const last = found.suggestions.length - 1;
    if (event.key === "ArrowDown") { event.preventDefault(); mark(chosen === last ? -1 : chosen + 1); }
    else if (event.key === "ArrowUp") { event.preventDefault(); mark(chosen === -1 ? last : chosen - 1); }
    else if (event.key === "Enter" && chosen >= 0) { event.preventDefault(); take(chosen); }
    else if (event.key === "Tab" && chosen >= 0) { event.preventDefault(); take(chosen); }
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") { clearTimeout(timer); timer = setTimeout(ask, WAIT); }
  });
}

const field = document.querySelector(".search input[type=search]");
if (field && site.api) suggestIn(field);
