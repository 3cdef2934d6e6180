// The keys of one picture of a link: arrows lead to its neighbours, Escape to all pictures.

const LINKS = {ArrowLeft: "a[rel=prev]", ArrowRight: "a[rel=next]", Escape: "a.up"};

document.addEventListener("keydown", (event) => {
  const selector = LINKS[event.key];
  if (!selector || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.target.matches("video"))
    return;
  document.querySelector(selector)?.click();
});
