// The upload of one file by the protocol tus 1.0: in pieces, from where a former try stopped. The browser stores the
// address of an upload until the file is added: it continues after a reload once the file is chosen again.

import {Failure, HEADERS, failureOf, parsed, site} from "./api.js";
import {t} from "./words.js";

// Bytes of a piece: proxies buffer whole requests, and some refuse large ones.
const LEAST = 256 << 10, MOST = 16 << 20;
const QUICK = 4000, SLOW = 20000;          // milliseconds of a piece, after which the next ones are larger or smaller
const STALLED = 60000;                     // milliseconds without a byte or an answer
const PASSING = new Set([0, 408, 409, 423, 429, 500, 502, 503, 504]);
const GONE = new Set([404, 410]);
// The server keeps incomplete files for this time.
const KEY = "photosvc-uploads", LIFETIME = 3 * 86400000, REMEMBERED = 500;
const PAUSES = [1, 2, 4, 8, 16, 30, 60];   // seconds before each further try

let size = 1 << 20;  // of the next piece

// The seconds before another try after a number of failures in a row; null if the user must decide.
export function pauseAfter(failures, error) {
  if (!PASSING.has(error.status) || (error.status === 500 && failures >= PAUSES.length)) return null;
  return Math.max(PAUSES[Math.min(failures, PAUSES.length - 1)], error.after || 0);
}

export class Transfer {
  #file; #tell; #address;
  #stop = new AbortController();
  #wake = null;
  offset = 0;  // the bytes that the server has

  // `bundle` is the token of an upload of several files, for an album or none. `tell` is called with the number of sent
  // bytes, or with the seconds of a pause and its cause. `resumes`: continue a former try.
  constructor(file, bundle, album, tell, resumes) {
    const known = resumes ? read()[key(file)] : null;
    this.#file = file;
    this.#tell = tell;
    this.#address = known?.address;
    this.bundle = known?.bundle ?? bundle;
    this.album = known ? known.album : album;
  }

  // The name of this file in answers of the server.
  get token() { return this.#address?.split("/").pop(); }
  get stopped() { return this.#stop.signal.aborted; }

  // Sends the file, or the rest of it.
  async send() {
    for (let failures = 0; ;) {
      const before = this.offset;
      try {
        await this.#proceed();
        return;
      } catch (error) {
        if (this.stopped) throw error;
        const gone = GONE.has(error.status) && this.#address,
          seconds = gone ? 0 : pauseAfter(this.offset > before ? 0 : failures, error);
        if (seconds === null) throw error;
        failures = this.offset > before ? 1 : failures + 1;
        if (gone) this.restart();
        else await this.#pause(seconds, error);
        if (this.stopped) throw error;
      }
    }
  }

  // Ends a pause.
  hurry() { this.#wake?.(); }

  // Stops, and deletes the received part on the server.
  cancel() {
    this.#stop.abort();
    this.hurry();
    this.end();
    this.#remove();
  }

  // Forgets the upload: the server has added or refused the file.
  end() { write(this.#file, null); }

  // Makes the next try begin with the first byte.
  restart() {
    this.#address = null;
    this.offset = 0;
    this.end();
  }

  async #proceed() {
    if (this.#address) {
      const answer = await this.#ask("HEAD", this.#address);
      this.#reached(answer);
    } else await this.#create();
    while (this.offset < this.#file.size) {
      const piece = this.#file.slice(this.offset, this.offset + size), before = this.offset, begun = performance.now();
      await piece.slice(0, 1).arrayBuffer().catch(() => { throw new Failure(400, t("fileGone")); });
      this.#tell({sent: before});
      try {
        this.#reached(await this.#ask("PATCH", this.#address,
          {"Upload-Offset": before, "Content-Type": "application/offset+octet-stream"}, piece));
      } catch (error) {
        size = Math.max(LEAST, size / 2);
        if (error.status === 413 && piece.size > LEAST) continue;  // too large for a proxy
        throw error;
      }
      if (!(this.offset > before)) throw new Failure(0, t("storedNothing"));
      const took = performance.now() - begun;
      if (took < QUICK) size = Math.min(MOST, size * 2);
      else if (took > SLOW) size = Math.max(LEAST, size / 2);
    }
    this.#remember(true);
  }

  // Cancelling waits for the answer, which has the address to delete.
  async #create() {
    if (!this.#file.slice) throw new Failure(400, t("chooseAgain"));
    const described = `filename ${base64(this.#file.name)},upload ${base64(this.bundle)}`;
    const answer = await ask("POST", `${site.api}/uploads`,
      {"Upload-Length": this.#file.size, "Upload-Metadata": described});
    this.#address = answer.getResponseHeader("Location");
    if (this.stopped) {
      this.#remove();
      throw new Failure(0, `${t("cancelled")}.`);
    }
    this.#remember(false);
  }

  #reached(answer) {
    this.offset = Number(answer.getResponseHeader("Upload-Offset"));
    this.#remember(false);
  }

  #remember(sent) {
    if (!this.stopped) write(this.#file,
      {address: this.#address, bundle: this.bundle, album: this.album, offset: this.offset, sent, at: Date.now()});
  }

  #remove() { if (this.#address) ask("DELETE", this.#address).catch(() => {}); }

  #ask(method, address, headers, body) {
    return ask(method, address, headers,
      {body, signal: this.#stop.signal, progress: (sent) => this.#tell({sent: this.offset + sent})});
  }

  #pause(seconds, error) {
    this.#tell({seconds, error});
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        removeEventListener("online", end);
        this.#wake = null;
        resolve(null);
      };
      const timer = setTimeout(end, seconds * 1000);
      addEventListener("online", end);
      this.#wake = end;
    });
  }
}

// The files of this account that are not added yet: {name, size, lastModified, bundle, offset, sent}.
export function remembered() {
  return Object.entries(read()).flatMap(([known, {bundle, offset, sent}]) => {
    const [user, bytes, time, ...name] = known.split("/");
    return user === site.user
      ? [{name: name.join("/"), size: Number(bytes), lastModified: Number(time), bundle, offset, sent}] : [];
  });
}

/** @type {{body?: Blob, signal?: AbortSignal, progress?: (sent: number) => void}} */
const NOTHING = {};

// Sends a request; rejects answers without success. `fetch` reports no progress of a body.
function ask(method, address, headers = {}, {body, signal, progress} = NOTHING) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest(), begun = performance.now();
    request.open(method, address);
    const sent = {...HEADERS, "Tus-Resumable": "1.0.0", ...headers};
    for (const [name, value] of Object.entries(sent)) request.setRequestHeader(name, value);
    request.timeout = STALLED;
    request.upload.addEventListener("progress", ({loaded}) => {
      request.timeout = performance.now() - begun + STALLED;
      progress?.(loaded);
    });
    const stop = () => request.abort();
    signal?.addEventListener("abort", stop);
    request.addEventListener("loadend", () => {
      signal?.removeEventListener("abort", stop);
      const {status} = request, after = Number(request.getResponseHeader("Retry-After")) || 0;
      const failure = status ? failureOf(status, parsed(request.responseText)) : new Failure(0, `${t("lost")}.`);
      if (status >= 200 && status < 300) resolve(request);
      else reject(Object.assign(failure, {after}));
    });
    if (signal?.aborted) reject(new Failure(0, `${t("cancelled")}.`));
    else request.send(body);
  });
}

const base64 = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
const key = (file) => `${site.user}/${file.size}/${file.lastModified}/${file.name}`;

// The files that are not added yet, by account, size, time and name.
function read() {
  try {
    const since = Date.now() - LIFETIME, found = Object.entries(JSON.parse(localStorage.getItem(KEY)) ?? {});
    return Object.fromEntries(found.filter(([, {at}]) => at > since).slice(-REMEMBERED));
  } catch { return {}; }
}

function write(file, value) {
  const found = read();
  delete found[key(file)];
  if (value) found[key(file)] = value;
  try {
    if (Object.keys(found).length) localStorage.setItem(KEY, JSON.stringify(found));
    else localStorage.removeItem(KEY);
  } catch { /* nothing is remembered */ }
}
