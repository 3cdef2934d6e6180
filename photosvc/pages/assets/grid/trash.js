// The trash: undoing a deletion, and ending it.

import {portions, post} from "./api.js";
import {t} from "./words.js";

// Restores the `sent` photos of a deletion, in portions; another try continues after the restored ones. A file stays in
// the trash if its name is in use.
export async function restore(deletion) {
  const taken = deletion.taken ??= new Set(), left = deletion.left ??= [...portions(deletion.sent)];
  while (left.length) {
    try {
      const {complete, files, taken: names} = await post("/trash/restore", {photos: left[0]});
      deletion.isBack = true;
      for (const name of names) taken.add(name);
      if (complete || !files.length) left.shift();
    } catch (error) {
      deletion.isBack ||= error.status === 0;  // by a request whose answer was lost, perhaps
      if (error.status !== 404 || (left.length === 1 && !deletion.isBack)) throw error;
      left.shift();
    }
  }
  return taken.size ? t("undoneTaken", {num: taken.size, file: [...taken][0]}) : "";
}

// Deletes photos in the trash for good, in portions.
export async function purge(list) {
  for (const photos of portions(list)) {
    for (let complete = false; !complete;) {
      try {
        ({complete} = await post("/trash/delete", {photos}));
      } catch (error) {
        if (error.status !== 404) throw error;  // the rest is gone already
        complete = true;
      }
    }
  }
}
