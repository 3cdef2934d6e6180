// What pages of the library have beside their grid: suggestions, filters, memories, uploads, and news of the library.

import {site} from "./api.js";
import {isBusy, watchLibrary} from "./news.js";
import "./suggest.js";
import {uploading} from "./upload.js";

const filters = document.querySelector(".filters-button"), found = document.querySelector(".total span");
if (filters) import("./filters.js").then(({filtering}) => filtering(filters, () => found), () => {});

let renew = null;
// Without a grid, the page is loaded again when the list of uploads is closed.
uploading((ended) => {
  if (renew) renew();
  else if (ended) location.reload();
});

// A page without photos is loaded again when the library gets some.
if (!document.querySelector("#grid[data-first]")) {
  watchLibrary(() => site.version, () => { if (document.querySelector(".empty") && !isBusy()) location.reload(); });
}

// Shows changes of the library in its grid.
export function follow(timeline) {
  renew = () => timeline.moved();
  watchLibrary(() => timeline.version, renew);
  const root = document.querySelector("#grid");
  if (filters && !site.query && !site.album) import("./memories.js").then(({remember}) => remember(root), () => {});
}
