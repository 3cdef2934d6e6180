// Suggestions below the search field: a combobox.

import {get, queryString, site} from "./api.js";
import {make} from "./elements.js";
import {locale, number, t, texts} from "./words.js";

const WAIT = 120;  // milliseconds after the last key

class Suggestions {
  #field;
  #list = make("ul", {id: "suggestions", className: "suggestions", role: "listbox", hidden: true});
  #timer = 0;
  #running = null;
  #answer = null;  // the answer of the API, with the query that it is for
  #marked = -1;

  constructor(field) {
    this.#field = field;
    this.#list.setAttribute("aria-label", t("suggestions"));
    field.parentElement.append(this.#list);
    field.setAttribute("role", "combobox");
    field.setAttribute("aria-autocomplete", "list");
    field.setAttribute("aria-expanded", "false");
    field.setAttribute("aria-controls", "suggestions");
    field.addEventListener("input", () => this.#askSoon());
    field.addEventListener("blur", () => this.#close());
    field.addEventListener("keydown", (event) => this.#key(event));
  }

  #close() {
    this.#list.hidden = true;
    this.#field.setAttribute("aria-expanded", "false");
    this.#mark(-1);
    clearTimeout(this.#timer);
    this.#running?.abort();
  }

  #mark(index) {
    this.#marked = index;
    [...this.#list.children].forEach((option, at) => option.setAttribute("aria-selected", at === index));
    if (index < 0) this.#field.removeAttribute("aria-activedescendant");
    else {
      this.#field.setAttribute("aria-activedescendant", this.#list.children[index].id);
      this.#list.children[index].scrollIntoView({block: "nearest"});
    }
  }

  #askSoon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), WAIT);
  }

  async #ask() {
    this.#running?.abort();
    const own = this.#running = new AbortController(), field = this.#field;
    const query = field.value, at = [...query.slice(0, field.selectionStart)].length;  // in code points
    try {
      const answer = await get(`/suggest${queryString({q: query, at: String(at)})}`, own.signal);
      if (document.activeElement === field && field.value === query) this.#show({...answer, query});
    } catch {
      if (this.#running === own) this.#close();  // no later request runs
    }
  }

  #show(answer) {
    this.#answer = answer;
    this.#list.replaceChildren(...answer.suggestions.map((suggestion, index) => this.#option(suggestion, index)));
    this.#list.hidden = !answer.suggestions.length;
    this.#field.setAttribute("aria-expanded", String(!this.#list.hidden));
    this.#mark(-1);
  }

  #option({count, help, kind, label, more, text}, index) {
    const region = () => new Intl.DisplayNames(locale, {type: "region"}).of(text.slice(-2));
    const translated = kind === "country" ? region() : texts[`${kind}:${label}`];
    const total = count === null ? "" : `${number(count)}${more ? "+" : ""}`;
    const option = make("li", {id: `suggestion-${index}`, role: "option"},
      make("span", {className: "kind", textContent: t(kind)}),
      make("span", {className: "name", dir: "auto", textContent: kind === "filter" ? text : translated ?? label}),
      make("span", {className: "help", textContent: help ? translated ?? help : total}));
    option.addEventListener("mousedown", (event) => event.preventDefault());  // the field keeps the focus
    option.addEventListener("click", () => this.#take(index));
    return option;
  }

  #take(index) {
    const {end, query, start, suggestions} = this.#answer, {kind, text} = suggestions[index], all = [...query];
    const isFilter = kind === "filter";  // its value follows
    const before = all.slice(0, start).join("") + text + (isFilter ? "" : " ");
    this.#field.value = before + all.slice(end).join("").trimStart();
    this.#field.setSelectionRange(before.length, before.length);
    this.#close();
    this.#field.focus();
    if (isFilter) this.#ask();
  }

  #key(event) {
    const {key} = event, isClosed = this.#list.hidden;
    if (event.isComposing || (isClosed && key !== "ArrowDown")) return;
    const last = this.#list.children.length - 1;
    if (key === "ArrowLeft" || key === "ArrowRight") this.#askSoon();
    const acts = {
      Escape: () => this.#close(),
      ArrowDown: () => (isClosed ? this.#ask() : this.#mark(this.#marked === last ? -1 : this.#marked + 1)),
      ArrowUp: () => this.#mark(this.#marked === -1 ? last : this.#marked - 1),
    };
    if (this.#marked >= 0) acts.Enter = acts.Tab = () => this.#take(this.#marked);
    if (!acts[key]) return;
    acts[key]();
    event.preventDefault();
  }
}

const field = document.querySelector(".search input[type=search]");
if (field && site.api) new Suggestions(field);
