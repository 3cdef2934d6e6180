// The search field: its chips, and below it a panel with suggestions, recent searches, people, places and years, a
// combobox. What is chosen searches at once.

import {get, queryString, site, thumbnail} from "./api.js";
import {icon, make, picture} from "./elements.js";
import {locale, number, t, texts} from "./words.js";

const WAIT = 120;  // milliseconds after the last key
const SHOWN = 6, PEOPLE = 8, PLACES = 5, YEARS = 8, RECENT = 5;
const OFFERED = {subject: PEOPLE, city: PLACES, year: YEARS};  // what an empty field offers, by filter
const KEPT = `photosvc-recent-${site.user}`;

// The recent searches of this user in this browser, {query, label}, the last one first.
function recent() {
  try {
    return JSON.parse(localStorage.getItem(KEPT)) ?? [];
  } catch {
    return [];
  }
}
const keepRecent = (list) => localStorage.setItem(KEPT, JSON.stringify(list.slice(0, RECENT)));

// The picture of a suggestion, or its sign.
function shownBy({area = null, hash = "", kind = "", turn = 1}) {
  if (!hash) return make("span", {className: "sign"}, icon({camera: "camera", year: "calendar"}[kind] ?? "text"));
  const crop = area && `-${area.map((part) => Math.floor(1000 * part).toString(16).padStart(3, "0")).join("")}`;
  const src = thumbnail({hash: hash + (crop ?? ""), turn}, "tile_224");
  return picture({src, className: crop ? "face" : ""});
}

const nameOf = ({kind, label, text}) =>
  (kind === "country" ? new Intl.DisplayNames(locale, {type: "region"}).of(text.slice(-2))
    : texts[`${kind}:${label}`] ?? label);

class SearchField {
  #field; #form; #chips;
  #panel = make("div", {id: "suggestions", className: "suggestions", role: "listbox", hidden: true});
  #told = make("span", {className: "unseen", role: "status"});
  #options = [];
  #timer = 0;
  #running = null;
  #offered = null;
  #marked = -1;

  constructor(field) {
    this.#field = field;
    this.#form = field.form;
    this.#chips = field.parentElement.querySelector(".chips");
    this.#panel.setAttribute("aria-label", t("suggestions"));
    field.parentElement.append(this.#panel, this.#told);
    const states = {
      role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": "suggestions",
    };
    for (const [name, value] of Object.entries(states)) field.setAttribute(name, value);
    field.addEventListener("input", () => this.#askSoon());
    field.addEventListener("focus", () => this.#askSoon(0));
    field.addEventListener("click", () => { if (this.#panel.hidden) this.#askSoon(0); });
    field.addEventListener("blur", () => this.#close());
    field.addEventListener("keydown", (event) => this.#key(event));
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#search(this.#whole(field.value));
    });
    const asText = this.#form.querySelector(".as-text");
    if (asText && this.#chips.children.length) {
      asText.hidden = false;
      asText.addEventListener("click", () => this.#showText());
    }
    this.#note();
  }

  get #parts() { return [...this.#chips.querySelectorAll("input")].map(({value}) => value); }
  #whole(text) { return [...this.#parts, text.trim()].filter(Boolean).join(" "); }

  // Remembers the search of this page.
  #note() {
    const query = this.#whole(this.#field.value);
    if (!query || this.#field.ariaInvalid === "true" || document.querySelector(".empty")) return;
    const labels = [...this.#chips.querySelectorAll("span")].map(({textContent}) => textContent);
    const label = [...labels, this.#field.value.trim()].filter(Boolean).join(" · ");
    keepRecent([{query, label}, ...recent().filter((one) => one.query !== query)]);
  }

  #search(query) {
    const others = [...new FormData(this.#form)].filter(([name]) => name !== "q");
    location.assign(this.#form.action + queryString({...Object.fromEntries(others), q: query}));
  }

  // Makes text of the chips again, all or the last one.
  #showText(all = true) {
    const chips = [...this.#chips.children].slice(all ? 0 : -1);
    if (!chips.length) return;
    const text = chips.map((chip) => chip.querySelector("input").value).join(" ");
    for (const chip of chips) chip.remove();
    this.#chips.hidden = !this.#chips.children.length;
    this.#field.value = `${text} ${this.#field.value}`;
    this.#form.querySelector("details[open]")?.removeAttribute("open");
    this.#field.focus();
    this.#field.setSelectionRange(text.length, text.length);
  }

  #close() {
    this.#panel.hidden = true;
    this.#field.setAttribute("aria-expanded", "false");
    this.#mark(-1);
    clearTimeout(this.#timer);
    this.#running?.abort();
  }

  #mark(index) {
    this.#marked = index;
    this.#options.forEach(({element}, at) => element.setAttribute("aria-selected", at === index));
    const element = this.#options[index]?.element;
    if (!element) this.#field.removeAttribute("aria-activedescendant");
    else {
      this.#field.setAttribute("aria-activedescendant", element.id);
      element.scrollIntoView({block: "nearest"});
    }
  }

  #askSoon(wait = WAIT) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), wait);
  }

  async #ask() {
    this.#running?.abort();
    const own = this.#running = new AbortController(), field = this.#field;
    const query = field.value, at = [...query.slice(0, field.selectionStart)].length;  // in code points
    try {
      const answer = query.trim() ? await get(`/suggest${queryString({q: query, at: String(at)})}`, own.signal) : null;
      const offers = await (this.#offered ??= this.#offer());
      const isAsked = document.activeElement === field && field.value === query;
      if (isAsked && !own.signal.aborted) this.#show(query, answer, offers);
    } catch {
      if (this.#running === own) this.#close();  // no later request runs
    }
  }

  // What an empty field offers: the people, places and years with the most photos.
  async #offer() {
    const lists = await Promise.all(Object.keys(OFFERED).map((name) => get(`/suggest?q=${name}:`).catch(() => null)));
    return Object.fromEntries(Object.entries(OFFERED).map(([name, most], at) => [name,
      (lists[at]?.suggestions ?? []).slice(0, most).map((one) => ({...one, text: `${name}:${one.text}`}))]));
  }

  #show(query, answer, offers) {
    const groups = [], marked = this.#options[this.#marked]?.query;
    this.#options = [];
    const add = (name, className, options) => {
      if (!options.length) return;
      const title = name ? make("p", {textContent: t(name), ariaHidden: "true"}) : "";
      const group = make("div", {className, role: "group", ariaLabel: t(name || "suggestions")}, title, ...options);
      groups.push(group);
    };
    if (answer) add("", "lines", this.#found(query, answer));
    const typed = query.trim().toLocaleLowerCase(locale);
    const former = recent().filter(({label}) => label.toLocaleLowerCase(locale).includes(typed));
    add("recent", "lines", former.map((one) => this.#former(one)));
    const before = query.trim() && !answer ? query : "";
    const tile = (one) => this.#option(this.#whole(`${before} ${one.text}`), "tile", shownBy(one),
      make("span", {textContent: nameOf(one), dir: "auto"}));
    if (!answer) {
      add("factPeople", "people", offers.subject.map(tile));
      add("Places", "places", offers.city.map(tile));
      add("years", "years", offers.year.map((one) => this.#option(this.#whole(one.text), "chip", one.label)));
    }
    this.#panel.replaceChildren(...groups);
    this.#panel.hidden = !groups.length;
    this.#field.setAttribute("aria-expanded", String(!this.#panel.hidden));
    this.#told.textContent = answer ? t("suggestionsFound", {num: this.#options.length}) : "";
    // A later answer takes away no mark.
    this.#mark(marked === undefined ? -1 : this.#options.findIndex((option) => option.query === marked));
  }

  // The lines for a typed text: what it may mean, else how it may be spelled, and the text itself.
  #found(query, {start, end, suggestions, hints}) {
    const all = [...query], before = all.slice(0, start).join(""), after = all.slice(end).join("");
    const typed = all.slice(start, end).join("");
    const shown = suggestions.filter(({kind}) => kind !== "filter").slice(0, SHOWN - 1);
    const line = (one) => {
      const name = nameOf(one), at = name.toLocaleLowerCase(locale).indexOf(typed.toLocaleLowerCase(locale));
      const bold = make("b", {textContent: name.slice(at, at + typed.length)});
      const parts = at < 0 || !typed ? [name] : [name.slice(0, at), bold, name.slice(at + typed.length)];
      const total = one.count === null ? "" : `${number(one.count)}${one.more ? "+" : ""}`;
      return this.#option(this.#whole(`${before}${one.text} ${after.trimStart()}`), "line", shownBy(one),
        make("span", {className: "name", dir: "auto"}, ...parts, make("small", {textContent: t(one.kind)})),
        make("small", {textContent: total}));
    };
    const plain = (search, name, help) => this.#option(search, "line", shownBy({}),
      make("span", {className: "name", dir: "auto"}, name, make("small", {textContent: help})));
    return [...shown.map(line), ...hints.map(({text}) => plain(text, text, t("didYouMean"))),
      plain(this.#whole(query), t("inWords", {words: query.trim()}), t("inWordsOf"))];
  }

  #former(one) {
    const cross = make("span", {className: "forget", title: t("forget")}, icon("close"));
    const option = this.#option(one.query, "line", make("span", {className: "sign"}, icon("clock")),
      make("span", {className: "name", textContent: one.label, dir: "auto"}), cross);
    const forget = this.#options.at(-1).forget = () => {
      keepRecent(recent().filter(({query}) => query !== one.query));
      this.#askSoon(0);
    };
    cross.addEventListener("click", (event) => {
      event.stopPropagation();
      forget();
    });
    return option;
  }

  // An option that searches for a query.
  #option(query, className, ...parts) {
    const element = make("div", {id: `suggestion-${this.#options.length}`, className, role: "option"}, ...parts);
    element.addEventListener("click", () => this.#search(query));
    element.addEventListener("mousedown", (event) => event.preventDefault());  // the field keeps the focus
    this.#options.push({element, query, forget: null});
    return element;
  }

  #key(event) {
    const {key} = event, field = this.#field, isClosed = this.#panel.hidden, last = this.#options.length - 1;
    if (event.isComposing) return;
    const acts = {
      ArrowDown: () => (isClosed ? this.#askSoon(0) : this.#mark(this.#marked === last ? -1 : this.#marked + 1)),
    };
    if (!isClosed) {
      acts.ArrowUp = () => this.#mark(this.#marked === -1 ? last : this.#marked - 1);
      acts.Escape = () => this.#close();
      const {query, forget} = this.#options[this.#marked] ?? {};
      if (query !== undefined) acts.Enter = () => this.#search(query);
      if (forget) acts.Delete = forget;
    } else if (field.value) acts.Escape = () => { field.value = ""; };
    if (field.selectionEnd === 0 && this.#chips.children.length) acts.Backspace = () => this.#showText(false);
    if (!acts[key]) return;
    acts[key]();
    event.preventDefault();
  }
}

const field = document.querySelector(".search input[type=search]");
if (field && site.api) new SearchField(field);
