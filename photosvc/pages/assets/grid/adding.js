// Visitors add pictures: choosing them sends them, with their progress in the button.

import {make} from "./elements.js";
import {t} from "./words.js";

const form = document.querySelector("form.adding");

function send() {
  const told = form.querySelector("label span"), usual = told.textContent, request = new XMLHttpRequest();
  const field = form.querySelector("input"), end = (results) => {
    told.textContent = usual;
    field.disabled = false;
    document.querySelector("#results").replaceChildren(...results);
  };
  request.upload.addEventListener("progress", ({loaded, total}) => {
    const text = loaded < total ? t("sending", {percent: Math.floor((100 * loaded) / total)}) : t("adding");
    told.textContent = text;
    if (loaded === total) form.querySelector("[role=status]").textContent = text;
  });
  request.addEventListener("load", () => {
    if (request.status < 400 && request.responseURL.includes("added=")) {
      location.assign(request.responseURL);
      return;
    }
    const page = new DOMParser().parseFromString(request.responseText, "text/html");
    const results = page.querySelector("#results")?.childNodes;
    end(results ? [...results] : [alert(t("answered", {status: String(request.status)}))]);
  });
  request.addEventListener("error", () => end([alert(t("unreachable"))]));
  request.open("POST", form.action);
  request.send(new FormData(form));
  field.disabled = true;  // after its files were read
  field.value = "";
}

const alert = (textContent) => make("p", {className: "alert", role: "alert", textContent});

if (form) {
  form.classList.add("live");
  form.querySelector("input").addEventListener("change", send);
}
