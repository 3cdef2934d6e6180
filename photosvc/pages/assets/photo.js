// A photo is shown by the viewer over the grid of its search. This runs before anything of its page is seen.

{
  const {grid, photo} = document.currentScript.dataset;
  // An entry of the viewer that is loaded again has the entry of its grid before it.
  location.replace(`${grid}#${history.state?.viewer === undefined ? "photo" : "viewer"}=${photo}`);
}
