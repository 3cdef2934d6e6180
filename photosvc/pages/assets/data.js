// Packs all photos with their details into an archive, and downloads it.

const button = document.querySelector("#pack"), wrong = document.querySelector("section [role=alert]");

if (button) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    wrong.hidden = true;
    try {
      const answer = await fetch(button.dataset.zip, {
        method: "POST", credentials: "same-origin", body: JSON.stringify({q: "*"}),
        headers: {"X-Photosvc": "1", Accept: "application/json", "Content-Type": "application/json"},
      });
      const data = await answer.json();
      if (!answer.ok) throw new Error(data.error);
      location.assign(`${button.dataset.zip}/${encodeURIComponent(data.filename)}?details=true`);
    } catch (error) {
      wrong.textContent = error.message;
      wrong.hidden = false;
    }
    button.disabled = false;
  });
}
