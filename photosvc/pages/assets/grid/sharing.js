// Shares photos from where they are: they become an album with a link, for the share sheet of a phone or to copy.

import {addTo} from "./albums.js";
import {call, post, site} from "./api.js";
import {show} from "./dialog.js";
import {button, make} from "./elements.js";
import {locale, t} from "./words.js";

const DAY = 86400;
const LASTS = [[7, "in7"], [30, "in30"], [365, "in365"], [0, "never"]];  // days
const SHOWS = ["pictures", "metadata", "downloads"];

// Returns what to say, the address, and how to undo it; null if the user makes no link.
export async function sharing(uids, timeline) {
  const wanted = await asked(uids.length);
  if (!wanted) return null;
  const album = await timeline.changing(async () => {
    const made = await post("/albums", {Title: wanted.title});
    await addTo(made.UID, uids);
    return made;
  });
  const undo = () => timeline.changing(() => call(`/albums/${album.UID}`, {method: "DELETE"}));
  let link;
  try {
    link = await post(`/albums/${album.UID}/links`, {
      Expires: wanted.days * DAY, ShowMetadata: wanted.shows !== "pictures", CanDownload: wanted.shows === "downloads",
    });
  } catch (error) {
    await undo();
    throw error;
  }
  const address = new URL(`${site.link.replace("TOKEN", link.Token)}/${link.Slug}`, location.href).href;
  const text = await given(address, wanted.title) || t("linkMade");
  return {text, address, undo};
}

async function asked(count) {
  const day = new Date().toLocaleDateString(locale, {dateStyle: "long"});
  const choice = (name, options, value) => {
    const select = make("select", {id: `share-${name}`},
      ...options.map(([key, text]) => make("option", {value: key, textContent: t(text), selected: key === value})));
    return [make("label", {htmlFor: select.id, textContent: t(name)}), select];
  };
  const title = make("input", {id: "share-title", type: "text", required: true, maxLength: 200, autocomplete: "off",
    dir: "auto", value: t("sharedTitle", {day})});
  const shows = choice("shows", SHOWS.map((name) => [name, name]), "pictures");
  const lasts = choice("lasts", LASTS, 30);
  const cancel = button({textContent: t("cancel")}, () => dialog.close());
  const yes = make("button", {value: "yes", className: "primary", autofocus: true, textContent: t("makeLink")});
  const dialog = make("dialog", {className: "ask values", ariaLabel: t("share")}, make("form", {method: "dialog"},
    make("h2", {textContent: t("sharePhotos", {num: count})}),
    make("label", {htmlFor: title.id, textContent: t("Title")}), title, ...shows, ...lasts,
    make("p", {className: "muted", textContent: t("shareBecomes")}), make("div", {className: "row"}, cancel, yes)));
  const answer = await show(dialog);
  return answer === "yes" && title.value.trim()
    ? {title: title.value.trim(), shows: shows[1].value, days: Number(lasts[1].value)} : null;
}

// Hands the address over: by the share sheet on phones, else by the clipboard, else in a dialog.
async function given(address, title) {
  try {
    if (matchMedia("(pointer: coarse)").matches && navigator.share) {
      await navigator.share({url: address, title});
      return "";
    }
    await navigator.clipboard.writeText(address);
    return t("linkCopied");
  } catch (error) {
    if (error.name === "AbortError") return "";
  }
  const field = make("input", {className: "secret", readOnly: true, value: address, ariaLabel: t("linkAddress")});
  const copy = button({className: "primary", textContent: t("copy")}, () => {
    field.select();
    document.execCommand("copy");
    copy.textContent = t("copied");
  });
  await show(make("dialog", {className: "ask", ariaLabel: t("linkMade")}, make("h2", {textContent: t("linkMade")}),
    field,
    make("form", {method: "dialog"}, make("div", {className: "row"}, copy,
      make("button", {textContent: t("close")})))));
  return "";
}
