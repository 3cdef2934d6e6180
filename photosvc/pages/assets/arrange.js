// Drags photos of an album to another place: a drop ticks them and presses the button of the place.

const list = document.querySelector("#arrange .tiles");
const place = (event) => event.target.closest?.("#arrange li");
const box = (item) => item.querySelector("input");
let dragged = null;

function mark(item) {
  for (const marked of list.querySelectorAll(".target")) if (marked !== item) marked.classList.remove("target");
  item?.classList.add("target");
}

if (list) {
  if (list.querySelector("button[name=before]")) {
    for (const item of list.children) item.draggable = true;
    list.addEventListener("dragstart", (event) => {
      dragged = place(event);
      if (!dragged) return;
      if (!box(dragged).checked) for (const item of list.children) box(item).checked = item === dragged;
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", "");
      list.classList.add("dragging");
    });
    list.addEventListener("dragover", (event) => {
      const item = dragged && place(event);
      if (!item || box(item).checked) {
        mark(null);
        return;
      }
      event.preventDefault();
      mark(item);
    });
    list.addEventListener("drop", (event) => {
      const item = dragged && place(event);
      if (!item || box(item).checked) return;
      event.preventDefault();
      item.closest("form").requestSubmit(item.querySelector("button[name=before]"));
    });
    list.addEventListener("dragend", () => {
      dragged = null;
      list.classList.remove("dragging");
      mark(null);
    });
  }
}
