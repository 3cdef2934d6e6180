// Elements of the page, and pictures drawn with lines.

const PICTURES = new URL("../icons.svg", import.meta.url), SVG = "http://www.w3.org/2000/svg";

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg"), use = document.createElementNS(SVG, "use");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `${PICTURES}#${name}`);
  svg.append(use);
  return svg;
}

// An element with these properties and children.
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// A picture that is not seen before it is loaded, as thumbnails may have to be made first.
export function picture(properties) {
  const image = make("img", {alt: "", decoding: "async", ...properties});
  image.classList.add("late");
  image.addEventListener("load", () => image.classList.remove("late"));
  return image;
}

// A button that sends no form, but calls `act` when it is pressed.
export function button(properties, act, ...children) {
  const element = make("button", {type: "button", ...properties}, ...children);
  element.addEventListener("click", act);
  return element;
}

// Puts an element at a place: `left`, `top`, `width` and `height` in pixels.
export function place(element, pixels) {
  for (const [name, value] of Object.entries(pixels)) element.style[name] = `${value}px`;
}

// Whether the user wants no movement on the screen.
export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
