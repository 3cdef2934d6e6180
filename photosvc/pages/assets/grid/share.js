// The service worker that receives files shared from other apps. It only stores them for the upload page, which asks
// before it sends them: other sites could send files here, too.

const SHARED = "photosvc-shared", MOST = 500;

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  const {method, url} = event.request;
  if (method === "POST" && new URL(url).pathname.endsWith("/upload/shared")) event.respondWith(keep(event.request));
});

async function keep(request) {
  const page = new URL("../upload?shared=yes", request.url);
  try {
    const files = (await request.formData()).getAll("files").filter((file) => file instanceof File && file.size);
    await caches.delete(SHARED);  // what was shared before and not taken
    const kept = await caches.open(SHARED);
    for (const [number, file] of files.slice(0, MOST).entries()) {
      const headers = {"X-Name": encodeURIComponent(file.name), "X-Time": file.lastModified, "Content-Type": file.type};
      await kept.put(`shared-${number}`, new Response(file, {headers}));
    }
    if (!files.length) page.search = "?shared=none";
  } catch {  // such as for want of space
    page.search = "?shared=none";
  }
  return Response.redirect(page, 303);
}
