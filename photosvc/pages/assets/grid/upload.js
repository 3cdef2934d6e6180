// Files that are dragged into the page or chosen; the code that sends them is loaded with the first ones.

import {may, site} from "./api.js";
import {make} from "./elements.js";
import {t} from "./words.js";

// `added` is called when the library has new photos, and with true when the list of uploads is closed after them.
export function uploading(added) {
  if (!may("upload") || !site.user) return;
  const form = document.querySelector("form.sending");
  const input = form?.querySelector("input[type=file]")
    ?? make("input", {type: "file", multiple: true, hidden: true, ariaLabel: t("filesToUpload"), tabIndex: -1});
  if (!form) {
    document.body.append(input);
    document.querySelector(".side nav > .upload")?.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      input.click();
    });
  }
  let queue = null;
  const act = async (method, given) => {
    queue ??= import("./uploads.js").then(({Queue}) => new Queue(added));
    try { (await queue)[method](given); } catch { queue = null; }
  };
  input.addEventListener("change", () => {
    if (input.files.length) act("add", [...input.files]);
    input.value = "";
  });
  let left = null;
  try { left = localStorage.getItem("photosvc-uploads"); } catch { /* the browser remembers nothing */ }
  if (left?.includes(`"${site.user}/`)) act("resume");

  if (navigator.serviceWorker)
    import("./shared.js").then(({receive}) => receive((files) => act("add", files)), () => {});

  form?.classList.add("live");
  let depth = 0;
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  const over = (on) => document.documentElement.classList.toggle("dropping", on);
  addEventListener("dragenter", (event) => { if (hasFiles(event)) {
    event.preventDefault();
    depth++;
    over(true);
  } });
  addEventListener("dragleave", (event) => { if (hasFiles(event) && --depth <= 0) {
    depth = 0;
    over(false);
  } });
  addEventListener("dragover", (event) => { if (hasFiles(event)) event.preventDefault(); });
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth = 0;
    over(false);
    // Browsers forget dropped files when this event ends.
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    act(entries.length ? "drop" : "add", entries.length ? entries : [...event.dataTransfer.files]);
  });
}

// The page that uploads.
if (document.querySelector("form.sending")) uploading(() => {});
