// Signing out removes files from the browser that other apps shared. They stay only if the user signs in again to
// upload them; the upload page shows them to the same account alone (`grid/shared.js`).

const wanted = document.querySelector("input[name=next]").value.includes("shared=yes");
if (!wanted && globalThis.caches) caches.delete("photosvc-shared").catch(() => {});
