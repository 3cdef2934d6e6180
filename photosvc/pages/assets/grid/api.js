// Calls of the API with the session of the page.

import {t} from "./words.js";

// The page's data: addresses, rights, and the search that it shows.
export const site = {...document.querySelector("[data-api]")?.dataset};
const allowed = new Set((site.may || "").split(" "));
export const may = (action) => allowed.has(action);

// With these headers the service answers in the language of the page, and knows a request of its own pages.
export const HEADERS = {"X-Photosvc": "1", Accept: "application/json"};

export class Failure extends Error {
  // `done`: the changes made in spite of it, in the form of a successful answer.
  constructor(status, message, details = [], done = {}) {
    super(message);
    this.status = status;
    this.details = details;
    this.done = done;
  }
}

// The failure of an answer with this status and the data of its body; null if that was no JSON.
export function failureOf(status, data) {
  if (status === 401) return new Failure(status, t("signedOut"));
  const message = data?.error || data?.message || t("answered", {status: String(status)});
  return new Failure(status, message, data?.details, {photos: data?.photos ?? 0, change: data?.change});
}

// The message of an error for the user. Scripts that cannot be loaded have no status.
export const messageOf = (error) => (error.status >= 0 ? error.message : t("unreachable"));

// The data of a text with JSON; null for others, such as the page of a proxy.
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * The answer of a call: {data, headers}. `body` is sent as JSON; a small one with PUT even when the page is left.
 * @param {string} path
 * @param {{method?: string, body?: any, headers?: Record<string, string>, signal?: AbortSignal}} options
 */
export async function call(path, {method = "GET", body, headers = {}, signal} = {}) {
  const json = body && JSON.stringify(body), type = json && {"Content-Type": "application/json"};
  let answer, text;
  try {
    answer = await fetch(site.api + path, {
      method, signal, body: json, credentials: "same-origin", keepalive: method === "PUT" && json?.length < 2e4,
      headers: {...HEADERS, ...headers, ...type},
    });
    text = await answer.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(0, t("unreachable"));
  }
  const data = parsed(text);
  if (answer.ok) return {data, headers: answer.headers};
  // The page leads to the sign-in page and back, unless that would lose typed values or uploads.
  const isBusy = document.querySelector("dialog[open], [data-unsaved], .uploads progress");
  if (answer.status === 401 && method === "GET" && !isBusy) location.reload();
  throw failureOf(answer.status, data);
}

export const get = async (path, signal) => (await call(path, {signal})).data;
export const post = async (path, body) => (await call(path, {method: "POST", body})).data;

// The query string of these values; empty ones are left out.
export function queryString(values) {
  const pairs = Object.entries(values).filter(([, value]) => value !== "" && value !== undefined && value !== null);
  return pairs.length ? `?${new URLSearchParams(pairs)}` : "";
}

// The parameters that select the photos of this page.
export const search = () => ({q: site.query, s: site.album, order: site.order, seed: site.seed});

// Browsers keep thumbnails by their addresses, which differ with the turn of a photo.
export function thumbnail({hash, turn = 1}, size) {
  const address = site.thumbs.replace("HASH", hash).replace("SIZE", size);
  return turn === 1 ? address : `${address}&turn=${turn}`;
}

/**
 * Thumbnails that keep the shape of a picture: name, and width and height in pixels of their box.
 * @type {[string, number, number][]}
 */
export const SIZES = [["fit_360", 360, 360], ["fit_720", 720, 720], ["fit_1280", 1280, 1024], ["fit_1920", 1920, 1200],
  ["fit_2560", 2560, 1600], ["fit_3840", 3840, 2400], ["fit_7680", 7680, 4320]];

// The list of the page in an order other than by time.
export const SEQUENCE = site.sequence || "/photos/sequence";

export const video = (hash) => site.videos.replace("HASH", hash);
export const photoPage = (uid) => site.photo.replace("UID", uid);

// A list in portions of the size that requests may have.
export function* portions(list) {
  const most = Number(site.portion);
  for (let at = 0; at < list.length; at += most) yield list.slice(at, at + most);
}
