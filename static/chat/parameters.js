// What the next messages ask of the model: temperature and longest answer.

import { button, h } from "./dom.js";
import { gettext } from "./i18n.js";
import { place } from "./menu.js";

const FIELDS = [
  { name: "temperature", label: gettext("Temperature"), help: gettext("0 to 2: low is steady, high is varied."), min: 0, max: 2, step: 0.1 },
  { name: "max_tokens", label: gettext("Longest answer"), help: gettext("In tokens, the model's own limit counts too."), min: 1, max: 10_000_000, step: 1 },
];

export class Parameters {
  values = {};
  #popover = null;

  constructor(opener) {
    this.opener = opener;
    opener.addEventListener("click", () => (this.#popover ? this.#close() : this.#open()));
  }

  #open() {
    const form = h("form", { class: "stack", novalidate: true, onsubmit: (event) => this.#apply(event) },
      h("h2", { class: "note__title" }, gettext("Answer settings")), ...FIELDS.map((field) => this.#field(field)),
      h("div", { class: "row" }, h("button", { type: "submit", class: "btn btn--primary" }, gettext("Apply")),
        button(gettext("As the model has them"), { class: "btn btn--quiet", onclick: () => this.#take({}) })));
    this.#popover = h("div", { class: "pop pop--float", popover: "auto", role: "dialog", "aria-label": gettext("Answer settings"), ontoggle: (event) => event.newState === "closed" && this.#closed() }, form);
    this.#popover.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      // Else the page would take it for a stop.
      event.preventDefault();
      event.stopPropagation();
      this.#close();
    });
    this.opener.closest("main").append(this.#popover);
    this.#popover.showPopover();
    place(this.#popover, this.opener);
    this.opener.setAttribute("aria-expanded", "true");
    form.querySelector("input").focus();
  }

  #field({ name, label, help, min, max, step }) {
    return h("div", { class: "field" }, h("label", { for: `set-${name}` }, label),
      h("input", { class: "input", id: `set-${name}`, name, type: "number", inputmode: "decimal", min, max, step, value: this.values[name] ?? null, placeholder: gettext("as the model has it"), "aria-describedby": `help-${name}` }),
      h("p", { class: "field__help", id: `help-${name}` }, help));
  }

  #apply(event) {
    event.preventDefault();
    const inputs = [...event.target.querySelectorAll("input")];
    for (const input of inputs) input.setAttribute("aria-invalid", String(!input.validity.valid));
    const wrong = inputs.find((input) => !input.validity.valid);
    if (wrong) return wrong.focus();
    return this.#take(Object.fromEntries(inputs.filter((input) => input.value !== "").map((input) => [input.name, Number(input.value)])));
  }

  #take(values) {
    this.values = values;
    this.opener.classList.toggle("is-set", Object.keys(values).length > 0);
    const said = FIELDS.filter(({ name }) => name in values).map(({ name, label }) => `${label} ${values[name]}`);
    this.opener.setAttribute("aria-label", [gettext("Answer settings"), ...said].join(", "));
    this.opener.title = this.opener.getAttribute("aria-label");
    this.#close();
  }

  #close() {
    this.#popover?.hidePopover();
    this.opener.focus();
  }

  #closed() {
    this.#popover?.remove();
    this.#popover = null;
    this.opener.setAttribute("aria-expanded", "false");
  }
}
