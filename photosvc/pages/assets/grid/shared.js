// Files that other apps share with photosvc on a phone: `share.js` stores them, and the upload page shows them.

import {site} from "./api.js";
import {make} from "./elements.js";

const SHARED = "photosvc-shared", OWNER = "photosvc-shared-for";

// Keeps the service worker up to date, and shows its files; `add` uploads them if the user agrees.
export async function receive(add) {
  const worker = new URL("share.js", import.meta.url), scope = new URL("upload/", new URL(site.photos, location.href));
  // Registering loads the worker from the server, which not every page needs.
  navigator.serviceWorker.getRegistration(scope).then((known) => {
    if (known?.active?.scriptURL !== worker.href) return navigator.serviceWorker.register(worker, {scope: scope.href});
  }).catch(() => {});
  // The files are for the account that used this browser when they were shared: no other account sees them.
  if (localStorage.getItem(OWNER) !== site.user) {
    await caches.delete(SHARED);
    localStorage.setItem(OWNER, site.user);
  }
  const box = document.querySelector("section.shared");
  if (!box) return;
  const kept = await caches.open(SHARED);
  const files = await Promise.all((await kept.matchAll()).map(async (answer) => {
    const name = decodeURIComponent(answer.headers.get("X-Name")), type = answer.headers.get("Content-Type");
    return new File([await answer.blob()], name, {type, lastModified: Number(answer.headers.get("X-Time"))});
  }));
  box.querySelector("ul").append(...files.map(({name}) => make("li", {textContent: name, dir: "auto"})));
  box.hidden = !files.length;
  const end = async (taken) => {
    box.remove();
    history.replaceState(null, "", location.pathname);
    await caches.delete(SHARED);
    if (taken.length) add(taken);
  };
  box.querySelector(".primary").addEventListener("click", () => end(files));
  box.querySelector(".plain").addEventListener("click", () => end([]));
}
