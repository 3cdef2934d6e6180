// The addition of scripts to the list of folders.

document.querySelector("#sort")?.addEventListener("change", (event) => event.target.form.requestSubmit());
