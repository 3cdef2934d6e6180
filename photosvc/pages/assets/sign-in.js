// Who signs out leaves no files in the browser that other apps shared. Only when somebody signs in to upload such
// files, whose session has ended, do they wait; the page that uploads shows them to the same account alone
// (`grid/shared.js`).

const wanted = document.querySelector("input[name=next]").value.includes("shared=yes");
if (!wanted && globalThis.caches) caches.delete("photosvc-shared").catch(() => {});
