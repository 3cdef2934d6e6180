// Leads to the viewer over the grid of a search, before anything of this page is shown.

{
  const {grid, photo} = document.currentScript.dataset;
  // A reloaded entry of the viewer has the entry of its grid before it.
  location.replace(`${grid}#${history.state?.viewer === undefined ? "photo" : "viewer"}=${photo}`);
}
