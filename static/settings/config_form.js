// The form of one model: its key goes in and is never shown.

import { button, h } from "../chat/dom.js";
import { gettext, interpolate, ngettext } from "../chat/i18n.js";
import { problem, reportOf, testing } from "./report.js";

const NUMBERS = ["context_limit", "temperature", "max_tokens", "priority", "input_price", "output_price"];
const NEW = { provider: "openai", base_url: "", model: "", context_limit: 128, context_strategy: "balanced", mode: "balanced", operations: [], capabilities: {}, prompts_tools: true, sends_reasoning: false, is_enabled: true, priority: 100, key: "none" };

export class ConfigForm {
  #api;
  #options;
  #entry;
  #message = h("div", { class: "config__message" });
  #result = h("div", { role: "status" });
  #models = h("datalist", { id: "config-models" });

  constructor(api, options) {
    this.#api = api;
    this.#options = options;
    this.#entry = options.entry;
    this.element = this.#made(options.entry ? { ...options.entry.config, name: options.entry.name, is_default: options.entry.is_default } : { ...NEW, name: "" });
  }

  focus() {
    this.element.querySelector("input").focus();
  }

  #made(values) {
    const { choices } = this.#options;
    const title = this.#entry ? interpolate(gettext("Edit %(name)s"), { name: this.#entry.name }) : gettext("Add a model");
    return h("form", { class: "config", "aria-labelledby": "config-title", novalidate: true, onsubmit: (event) => { event.preventDefault(); this.#save(); } },
      h("h3", { id: "config-title" }, title),
      h("div", { class: "config__grid" },
        text("name", gettext("Name"), values, { required: true, maxlength: 100, dir: "auto" }),
        text("base_url", gettext("Base URL"), values, { required: true, maxlength: 500, inputmode: "url", placeholder: "https://…/v1", help: gettext("Of an OpenAI-compatible server. Most end in /v1.") }),
        this.#key(values),
        this.#model(values),
        number("context_limit", gettext("Context, in thousands of tokens"), values, { min: 1, max: 100000, required: true, help: gettext("What the model can read at once.") })),
      check("is_default", gettext("Take this one before my others"), values.is_default),
      h("details", {}, h("summary", {}, gettext("More settings")),
        h("div", { class: "config__grid" },
          text("provider", gettext("Provider"), values, { required: true, maxlength: 50 }),
          number("temperature", gettext("Temperature"), values, { min: 0, max: 2, step: "any", help: gettext("0 to 2; empty: the server's own.") }),
          number("max_tokens", gettext("Longest answer, in tokens"), values, { min: 1, help: gettext("Empty: the server's own.") }),
          select("context_strategy", gettext("How much of the context is used"), values.context_strategy, choices.strategies),
          select("mode", gettext("Kind"), values.mode, choices.modes),
          number("priority", gettext("Priority"), values, { min: 0, max: 32767, help: gettext("Smaller is taken first.") }),
          number("input_price", gettext("Price of a million tokens read"), values, { min: 0, step: "any", help: gettext("Empty: unknown.") }),
          number("output_price", gettext("Price of a million tokens written"), values, { min: 0, step: "any", help: gettext("Empty: unknown.") }),
          ...choices.capabilities.map((name) => select(`capability-${name}`, capabilityWords(name), String(values.capabilities[name] ?? "unknown"), answers()))),
        h("fieldset", { class: "config__checks" }, h("legend", {}, gettext("Taken for (none: everything)")),
          ...choices.operations.map(([value, label]) => check("operations", label, values.operations.includes(value), value))),
        h("fieldset", { class: "config__checks" }, h("legend", {}, gettext("Behaviour")),
          check("prompts_tools", gettext("If it cannot call functions, write the tools into its prompt"), values.prompts_tools),
          check("sends_reasoning", gettext("Send its own reasoning back to it"), values.sends_reasoning),
          check("is_enabled", gettext("Switched on"), values.is_enabled))),
      this.#message,
      this.#result,
      h("div", { class: "config__acts" },
        h("button", { type: "submit", class: "btn btn--primary" }, gettext("Save")),
        button(gettext("Test connection"), { onclick: () => this.#test() }),
        button(gettext("Cancel"), { class: "btn btn--quiet", onclick: this.#options.onCancel })));
  }

  #key(values) {
    const isStored = values.key === "stored";
    const help = { stored: gettext("A key is stored. Leave this empty to keep it."), none: gettext("Empty, if the server wants none."), unreadable: gettext("The stored key cannot be read with today's encryption keys. It is kept until you enter another.") }[values.key];
    return field("api_key", gettext("API key"),
      h("input", { class: "input", id: "config-api_key", name: "api_key", type: "password", autocomplete: "new-password", spellcheck: "false", "aria-describedby": "config-api_key-help", placeholder: isStored ? "••••••••" : null }),
      help);
  }

  #model(values) {
    const input = h("input", { class: "input", id: "config-model", name: "model", value: values.model, required: true, maxlength: 255, list: "config-models", autocomplete: "off", spellcheck: "false", "aria-describedby": "config-model-help" });
    return field("model", gettext("Model"),
      h("div", { class: "config__row" }, input, button(gettext("List models"), { onclick: () => this.#list() }), this.#models),
      gettext("Its name at the provider, exactly."));
  }

  #values() {
    const form = new FormData(this.element);
    const values = {};
    for (const name of ["name", "base_url", "model", "provider", "context_strategy", "mode"]) values[name] = String(form.get(name)).trim();
    for (const name of NUMBERS) {
      const given = String(form.get(name)).trim();
      values[name] = given === "" ? null : Number(given);
    }
    if (values.priority === null) values.priority = 100;
    for (const name of ["is_default", "prompts_tools", "sends_reasoning", "is_enabled"]) values[name] = form.has(name);
    values.operations = form.getAll("operations");
    values.capabilities = {};
    for (const name of this.#options.choices.capabilities) values.capabilities[name] = { true: true, false: false }[form.get(`capability-${name}`)] ?? null;
    const key = String(form.get("api_key"));
    if (key) values.api_key = key;
    return values;
  }

  async #save() {
    this.#clear();
    const values = this.#values();
    const { base, onSaved } = this.#options;
    try {
      if (this.#entry) await this.#api.json("PUT", `${base}/${this.#entry.config_id}`, { body: { ...values, expected_version: this.#entry.version } });
      else await this.#api.json("POST", base, { body: values });
      onSaved(values.name);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error) {
    const acts = error.code === "version_conflict" ? [button(gettext("Load again"), { onclick: this.#options.onReload })] : [];
    this.#message.replaceChildren(problem(error.message, acts));
    for (const { field: name } of error.errors ?? []) {
      this.element.querySelector(`[name="${CSS.escape(name.split(".")[0])}"]`)?.setAttribute("aria-invalid", "true");
    }
    this.element.querySelector('[aria-invalid="true"]')?.focus();
  }

  #clear() {
    this.#message.replaceChildren();
    for (const element of this.element.querySelectorAll("[aria-invalid]")) element.removeAttribute("aria-invalid");
  }

  #tried() {
    const { base_url, model, api_key } = this.#values();
    return { base_url, model, ...(api_key ? { api_key } : {}), ...(this.#entry ? { config_id: this.#entry.config_id } : {}) };
  }

  async #test() {
    this.#clear();
    this.#result.replaceChildren(testing());
    try {
      const report = await this.#api.json("POST", `${this.#options.base}/test`, { body: this.#tried(), timeout: 90_000 });
      this.#result.replaceChildren(reportOf(report));
    } catch (error) {
      this.#result.replaceChildren();
      this.#fail(error);
    }
  }

  async #list() {
    this.#clear();
    try {
      const { models } = await this.#api.json("POST", `${this.#options.base}/models`, { body: this.#tried(), timeout: 60_000 });
      this.#models.replaceChildren(...models.map((name) => h("option", { value: name })));
      this.#result.replaceChildren(h("p", { class: "soft" }, models.length ? interpolate(ngettext("%(count)s model: begin to type, or press the arrow down in the field.", "%(count)s models: begin to type, or press the arrow down in the field.", models.length), { count: models.length }) : gettext("The server lists no models.")));
      const input = this.element.elements.namedItem("model");
      if (models.length === 1 && !input.value) input.value = models[0];
      input.focus();
    } catch (error) {
      this.#fail(error);
    }
  }
}

function field(name, label, control, help) {
  return h("div", { class: "field" }, h("label", { for: `config-${name}` }, label), control,
    help ? h("span", { class: "field__help", id: `config-${name}-help` }, help) : null);
}

function text(name, label, values, { help, ...attributes }) {
  return field(name, label, h("input", { class: "input", id: `config-${name}`, name, value: values[name] ?? "", autocomplete: "off", "aria-describedby": help ? `config-${name}-help` : null, ...attributes }), help);
}

function number(name, label, values, { help, ...attributes }) {
  return field(name, label, h("input", { class: "input", id: `config-${name}`, name, type: "number", value: values[name] ?? "", "aria-describedby": help ? `config-${name}-help` : null, ...attributes }), help);
}

function select(name, label, chosen, pairs) {
  return field(name, label, h("select", { class: "input", id: `config-${name}`, name },
    ...pairs.map(([value, words]) => h("option", { value, selected: value === chosen }, words))));
}

function check(name, label, isChecked, value = "on") {
  return h("label", { class: "check" }, h("input", { type: "checkbox", name, value, checked: Boolean(isChecked) }), label);
}

function answers() {
  return [["unknown", gettext("unknown")], ["true", gettext("yes")], ["false", gettext("no")]];
}

function capabilityWords(name) {
  return { tools: gettext("Can call functions"), vision: gettext("Reads pictures"), structured_output: gettext("Keeps to a JSON schema"), reasoning: gettext("Thinks before it answers") }[name] ?? name;
}
