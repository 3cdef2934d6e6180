// What indexing found about files that were uploaded.

import {get, queryString} from "./api.js";
import {whenAndWhere} from "./when.js";
import {t} from "./words.js";

const FIRST = 1000, MOST = 30000;  // milliseconds between two looks
const TRIES = 24;                  // some ten minutes
const SEARCHES = ["", " hidden:true"];  // photos of low quality are left out of the first one

// Calls `tell(hash, uid, found)` for each file with one of these hashes once the library shows it; `found` has texts.
export async function follow(hashes, tell) {
  const open = new Set(hashes);
  for (let tries = 0; open.size && tries < TRIES; tries++) {
    if (tries) await new Promise((resolve) => setTimeout(resolve, Math.min(FIRST * 2 ** tries, MOST)));
    for (const further of SEARCHES) {
      const query = {q: `uid:${[...open].join("|")}${further}`, count: "100", merged: "true"};
      for (const record of open.size ? await get(`/photos${queryString(query)}`) : []) {
        for (const {Hash} of record.Files) {
          if (!open.delete(Hash)) continue;
          tell(Hash, record.UID, [...whenAndWhere(record), ...(further ? [t("lowQuality")] : [])]);
        }
      }
    }
  }
}
