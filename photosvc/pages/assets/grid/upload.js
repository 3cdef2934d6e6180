// Files that are dragged into the page or chosen; what becomes of them is loaded with the first ones.

import {may, site} from "./api.js";
import {icon, make} from "./icons.js";

const MOST = 5000;  // files of one drop

// `added` is called when the library has new photos, and with true when the list of uploads was closed behind them.
export function uploading(added) {
  if (!may("upload") || !site.user) return;
  const input = make("input", {type: "file", multiple: true, hidden: true, ariaLabel: "Files to upload", tabIndex: -1});
  const button = make("button", {type: "button", className: "upload"}, icon("upload"), make("span", {textContent: "Upload"}));
  button.addEventListener("click", () => input.click());
  const nav = document.querySelector(".side nav"), last = nav?.querySelector(".last");
  if (nav) nav.insertBefore(button, last);
  document.body.append(input);
  let queue = null;
  const add = async (files) => {
    if (!files.length) return;
    queue ??= import("./uploads.js").then(({Queue}) => new Queue(added));
    try { (await queue).add(files.slice(0, MOST), Math.max(0, files.length - MOST)); } catch { queue = null; }
  };
  input.addEventListener("change", () => { add([...input.files]); input.value = ""; });

  let depth = 0;
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  const over = (on) => document.documentElement.classList.toggle("dropping", on);
  addEventListener("dragenter", (event) => { if (hasFiles(event)) { event.preventDefault(); depth++; over(true); } });
  addEventListener("dragleave", (event) => { if (hasFiles(event) && --depth <= 0) { depth = 0; over(false); } });
  addEventListener("dragover", (event) => { if (hasFiles(event)) event.preventDefault(); });
  addEventListener("drop", async (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth = 0;
    over(false);
    add(await dropped(event.dataTransfer));
  });
}

// The files of a drop, those in folders too.
async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files];
  const found = [];
  while (entries.length && found.length <= MOST) {
    const entry = entries.shift();
    if (entry.isFile) {
      await new Promise((resolve) => entry.file((file) => { found.push(file); resolve(); }, resolve));
    } else {
      const reader = entry.createReader();
      for (;;) {
        const some = await new Promise((resolve) => reader.readEntries(resolve, () => resolve([])));
        if (!some.length) break;
        entries.push(...some);
      }
    }
  }
  return found;
}
