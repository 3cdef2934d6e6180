// Calls of the API with the session of the page.

import {t} from "./words.js";

// The page's data: addresses, rights, and the search that it shows.
export const site = {...document.querySelector("form.search, form.sending")?.dataset};
const allowed = new Set((site.may || "").split(" "));
export const may = (action) => allowed.has(action);

export class Failure extends Error {
  // `done`: the part that was changed nevertheless, in the form of a successful answer.
  constructor(status, message, details = [], done = {}) {
    super(message);
    this.status = status;
    this.details = details;
    this.done = done;
  }
}

// The answer of a call: {data, headers}. `body` is sent as JSON; with PUT also when the page is left, if it is small.
export async function call(path, {method = "GET", body, headers = {}, signal} = {}) {
  const given = {"X-Photosvc": "1", Accept: "application/json", ...headers}, json = body && JSON.stringify(body);
  if (body !== undefined) given["Content-Type"] = "application/json";
  let answer, text;
  try {
    answer = await fetch(site.api + path, {
      method, signal, headers: given, credentials: "same-origin", body: json,
        keepalive: method === "PUT" && json?.length < 2e4,
    });
    text = await answer.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(0, t("unreachable"));
  }
  let data = null;
  try { data = text ? JSON.parse(text) : null; } catch { /* a proxy's page */ }
  if (answer.status === 401) {
    // The page leads to the log-in and back, but would lose what is typed or done.
    if (method === "GET" && !document.querySelector("dialog[open], [data-unsaved], .uploads progress"))
      location.reload();
    throw new Failure(401, t("signedOut"));
  }
  if (!answer.ok) throw new Failure(answer.status,
    data?.error || data?.message || t("answered", {status: `${answer.status}`}), data?.details,
    {photos: data?.photos ?? 0, change: data?.change});
  return {data, headers: answer.headers};
}

export const get = async (path, signal) => (await call(path, {signal})).data;
export const post = async (path, body) => (await call(path, {method: "POST", body})).data;

// The query string of these values; empty ones are left out.
export function asked(values) {
  const pairs = Object.entries(values).filter(([, value]) => value !== "" && value !== undefined && value !== null);
  return pairs.length ? `?${new URLSearchParams(pairs)}` : "";
}

// The parameters that select the photos of this page.
export const search = () => ({q: site.query, s: site.album, order: site.order, seed: site.seed});

// Browsers keep thumbnails by their addresses, which differ with the turn of a photo.
export const thumbnail = ({hash, turn = 1}, size) => site.thumbs.replace("HASH", hash)
  .replace("SIZE", size) + (turn === 1 ? "" : `&turn=${turn}`);
export const video = (hash) => site.videos.replace("HASH", hash);
export const photoPage = (uid) => site.photo.replace("UID", uid);

// A list in as many parts as requests take it in.
export function* portions(list) {
  const most = Number(site.portion);
  for (let at = 0; at < list.length; at += most) yield list.slice(at, at + most);
}
