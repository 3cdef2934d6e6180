// Suggestions below the search field: a combobox.

import {queryString, get, site} from "./api.js";
import {make} from "./elements.js";
import {locale, number, t, texts} from "./words.js";

const WAIT = 120;

export function suggestIn(field) {
  const list = make("ul", {id: "suggestions", className: "suggestions", hidden: true});
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", t("suggestions"));
  field.parentElement.append(list);
  for (const [name, value] of Object.entries(
    {role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": "suggestions"})) {
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

  const ask = async () => {
    running?.abort();
    const own = running = new AbortController();
    const query = field.value, at = [...query.slice(0, field.selectionStart)].length;  // in code points
    try {
      const answer = await get(`/suggest${queryString({q: query, at: String(at)})}`, own.signal);
      if (document.activeElement !== field || field.value !== query) return;
      found = {...answer, query};
      show();
    } catch { if (running === own) close(); }  // no later one runs
  };

  const show = () => {
    list.replaceChildren(...found.suggestions.map((one, index) => {
      const said = one.kind === "country"
        ? new Intl.DisplayNames(locale, {type: "region"}).of(one.text.slice(-2)) : texts[`${one.kind}:${one.label}`];
      const count = one.count === null ? "" : `${number(one.count)}${one.more ? "+" : ""}`;
      const option = make("li", {id: `suggestion-${index}`},
        make("span", {className: "kind", textContent: t(one.kind)}),
        make("span", {className: "name", dir: "auto",
          textContent: one.kind === "filter" ? one.text : said ?? one.label}),
        make("span", {className: "help", textContent: one.help ? said ?? one.help : count}));
      option.setAttribute("role", "option");
      // The field keeps the focus.
      option.addEventListener("mousedown", (event) => event.preventDefault());
      option.addEventListener("click", () => take(index));
      return option;
    }));
    list.hidden = !found.suggestions.length;
    field.setAttribute("aria-expanded", String(!list.hidden));
    mark(-1);
  };

  const take = (index) => {
    const one = found.suggestions[index], all = [...found.query];
    const open = one.kind === "filter";  // its value comes next
    const before = all.slice(0, found.start).join("") + one.text + (open ? "" : " ");
    field.value = before + all.slice(found.end).join("").trimStart();
    field.setSelectionRange(before.length, before.length);
    close();
    field.focus();
    if (open) ask();
  };

  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(ask, WAIT);
  };

  field.addEventListener("input", soon);
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (list.hidden && event.key !== "ArrowDown") return;
    const last = found.suggestions.length - 1;
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      soon();
      return;
    }
    if (list.hidden) ask();
    else if (event.key === "Escape") close();
    else if (event.key === "ArrowDown") mark(chosen === last ? -1 : chosen + 1);
    else if (event.key === "ArrowUp") mark(chosen === -1 ? last : chosen - 1);
    else if ((event.key === "Enter" || event.key === "Tab") && chosen >= 0) take(chosen);
    else return;
    event.preventDefault();
  });
}

const field = document.querySelector(".search input[type=search]");
if (field && site.api) suggestIn(field);
