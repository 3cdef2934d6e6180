// Pictures drawn with lines, on 24 by 24.

const PATHS = {
  heart: "M12 20s-7.5-4.6-7.5-10A4.2 4.2 0 0 1 12 7.4 4.2 4.2 0 0 1 19.5 10c0 5.4-7.5 10-7.5 10z",
  archive: "M4 5h16v4H4zM5.500 9v10h13V9M10 13h4",
  album: "M4 7h16v12H4zM12 10v6M9 13h6",
  edit: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
  remove: "M4 7h16v12H4zM9 13h6",
  close: "M6 6l12 12M18 6 6 18",
  play: "M8 5.500v13l10.500-6.500z",
  lock: "M6 11h12v9H6zM8.500 11V8a3.500 3.500 0 0 1 7 0v3",
  download: "M12 4v11M7 11l5 5 5-5M5 20h14",
  bin: "M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13M10.500 11v5M13.500 11v5",
  info: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v5M12 7.800v.1",
  all: "M4 4h16v16H4zM8 12l3 3 5-6",
  check: "M5 12.500l4.500 4.500L19 7.500",
};

const SVG = "http://www.w3.org/2000/svg";

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg"), path = document.createElementNS(SVG, "path");
  svg.setAttribute("class", "icon");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

// An element with these properties and children.
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}
