// Marks forms with typed values: no script of ours loads the page again, and browsers ask before it is left. A form
// that was sent after its session had ended gets its values back.

// Fields whose values count as not typed: browsers fill in log-ins, and ticked photos are quickly ticked again.
const FREE = "button, fieldset, output, [type=hidden]:not([name=version]), [type=file], [type=password], "
  + "[autocomplete=username], [autocomplete=one-time-code], [name=stay], [name=photo]";
const STORED = "photosvc-unsent";  // {path, action, number, values, unsent} of the form that this tab sent last
const last = JSON.parse(sessionStorage.getItem(STORED));
const {unsent, refused} = document.body.dataset;
const forms = [...document.querySelectorAll("form[method=post]")];
const isBox = ({type}) => type === "checkbox" || type === "radio";
const fieldsOf = (form) => [...form.elements].filter((field) => !field.matches(FREE));

function differs(field) {
  if (isBox(field)) return field.checked !== field.defaultChecked;
  if (!field.options) return field.value !== field.defaultValue;
  return field.selectedIndex !== Math.max(0, [...field.options].findIndex((option) => option.defaultSelected));
}

// A refused form contains its typed values as defaults.
const isRefused = (form) => refused !== undefined && last?.action === location.pathname && forms[last.number] === form;
const mark = (form) => form.toggleAttribute("data-unsaved", isRefused(form) || fieldsOf(form).some(differs));

document.addEventListener("input", ({target}) => { if (forms.includes(target.form)) mark(target.form); });
addEventListener("pageshow", () => forms.forEach(mark));
document.addEventListener("submit", ({target, defaultPrevented}) => {
  if (defaultPrevented || !("unsaved" in target.dataset)) return;
  target.removeAttribute("data-unsaved");
  const values = fieldsOf(target).map((field) => (isBox(field) ? field.checked : field.value));
  const action = new URL(target.action).pathname;
  const stored = {path: location.pathname, action, number: forms.indexOf(target), values};
  try { sessionStorage.setItem(STORED, JSON.stringify(stored)); } catch { /* no room */ }
});

if (last && unsent !== undefined) sessionStorage.setItem(STORED, JSON.stringify({...last, unsent: true}));
else if (last && (!last.unsent || last.path === location.pathname)) {
  sessionStorage.removeItem(STORED);
  const form = last.unsent && forms[last.number], fields = form ? fieldsOf(form) : [];
  if (fields.length === last.values.length) fields.forEach((field, at) => {
    field[isBox(field) ? "checked" : "value"] = last.values[at];
  });
}
forms.forEach(mark);
