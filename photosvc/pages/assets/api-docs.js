// Filters the operations during typing; without scripts, the form asks the server.

const field = document.querySelector("#q");
const found = document.querySelector("#found");
const groups = [...document.querySelectorAll(".group")].map((element) => ({
  element,
  link: document.querySelector(`.groups a[href="#${CSS.escape(element.id)}"]`),
  operations: [...element.querySelectorAll("[data-words]")],
}));

// The page of a query holds its operations only: from there, the form asks the server.
if (!field.defaultValue) {
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let number = 0;
    for (const {element, link, operations} of groups) {
      if (!operations.length) continue;
      for (const one of operations) one.hidden = !words.every((word) => one.dataset.words.includes(word));
      const shown = operations.filter((one) => !one.hidden).length;
      element.hidden = !shown;
      if (link) link.hidden = !shown;
      number += shown;
    }
    found.textContent = `${number} ${number === 1 ? "operation" : "operations"}`;
  });
}

// Links lead to what is inside of a closed element; not every browser opens it by itself.
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target?.closest("[hidden]")) {  // filtered out
    field.value = "";
    field.dispatchEvent(new Event("input"));
  }
  const closed = target?.closest("details:not([open])");
  if (!closed) return;
  closed.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", reveal);
reveal();
