// My models: those of my own, those I inherit, and which of them answers.

import { confirmDeed, toast } from "../chat/dialogs.js";
import { button, h, icon } from "../chat/dom.js";
import { gettext, interpolate } from "../chat/i18n.js";
import { ConfigForm } from "./config_form.js";
import { problem, reportOf, testing } from "./report.js";

const BASE = "v3/access/users/me/llm-model-configs";
const place = (id) => document.getElementById(id);

export class ModelsView {
  #api;
  #choices;
  #isStaff;
  #form = null;

  constructor(api, { choices, isStaff }) {
    this.#api = api;
    this.#choices = choices;
    this.#isStaff = isStaff;
    place("model-add").addEventListener("click", () => this.#edit(null));
  }

  async load() {
    try {
      this.#show(await this.#api.get(BASE));
    } catch (error) {
      place("model-problem").replaceChildren(problem(error.message, [
        button(gettext("Try again"), { onclick: () => this.load() })]));
    }
  }

  #show({ configs, answering }) {
    place("model-problem").replaceChildren();
    place("model-answering").replaceChildren(...answeringWords(configs, answering));
    const own = configs.some((config) => config.source === "user");
    place("model-list").replaceChildren(
      ...(configs.length ? configs.map((config) => this.#row(config, answering)) : []),
      ...(own ? [] : [this.#empty(configs.length > 0)]));
  }

  #empty(inherits) {
    const text = inherits
      ? gettext("You use what is set up for your group or for everybody. A model of your own goes before those.")
      : gettext("Until one is set up, questions are answered by built-in rules, or not at all. You need three things: the base URL of an OpenAI-compatible server, the name of a model there, and a key if it wants one.");
    return h("li", {}, h("div", { class: "note" }, icon("chip"), h("div", { class: "note__body" },
      h("h3", { class: "note__title" }, gettext("You have no model of your own")),
      h("p", {}, text),
      h("div", { class: "note__acts" }, button(gettext("Add a model"), { class: "btn btn--primary", onclick: () => this.#edit(null) })))));
  }

  #row(entry, answering) {
    const { config } = entry;
    const isOwn = entry.source === "user";
    const isAnswering = answering?.config_id === entry.config_id;
    const result = h("div", { role: "status" });
    const named = (text) => ({ "aria-label": `${text}: ${entry.name}` });
    const acts = [button(gettext("Test connection"), { class: "btn btn--sm", ...named(gettext("Test connection")), onclick: () => this.#test(entry, result) })];
    if (isOwn) {
      acts.push(button(gettext("Edit"), { class: "btn btn--sm", ...named(gettext("Edit")), onclick: () => this.#edit(entry) }));
      if (!entry.is_default) acts.push(button(gettext("Make default"), { class: "btn btn--sm", ...named(gettext("Make default")), onclick: () => this.#makeDefault(entry) }));
      acts.push(button(gettext("Delete"), { class: "btn btn--sm btn--danger", ...named(gettext("Delete")), onclick: () => this.#delete(entry) }));
    }
    return h("li", { class: `model${isAnswering ? " is-answering" : ""}`, "data-config": entry.config_id },
      h("div", { class: "model__head" },
        h("h3", { class: "model__name", dir: "auto" }, entry.name),
        ...(isAnswering ? [h("span", { class: "badge badge--accent" }, gettext("answers you"))] : []),
        ...(entry.is_default ? [h("span", { class: "badge" }, gettext("default"))] : []),
        h("span", { class: "badge" }, sourceWords(entry)),
        ...(config.is_enabled ? [] : [h("span", { class: "badge badge--wait" }, gettext("switched off"))]),
        ...(config.key === "unreadable" ? [h("span", { class: "badge badge--bad" }, gettext("key cannot be read"))] : [])),
      h("p", { class: "model__facts" },
        h("span", { class: "mono" }, config.model),
        h("span", { class: "mono" }, config.base_url),
        h("span", {}, keyWords(config.key)),
        ...(config.operations.length ? [h("span", {}, interpolate(gettext("only for: %(what)s"), { what: this.#labels("operations", config.operations) }))] : []),
        ...(config.capabilities.tools === false ? [h("span", {}, gettext("cannot call functions"))] : [])),
      h("div", { class: "model__acts" }, ...acts),
      result);
  }

  #labels(kind, values) {
    return this.#choices[kind].filter(([value]) => values.includes(value)).map(([, label]) => label).join(", ");
  }

  #edit(entry) {
    const form = new ConfigForm(this.#api, {
      base: BASE, entry, choices: this.#choices, isStaff: this.#isStaff,
      onSaved: (name) => {
        this.#close();
        toast(interpolate(gettext("%(name)s is saved."), { name }));
        this.load();
      },
      onCancel: () => this.#close(),
      onReload: () => this.#again(entry),
    });
    this.#form = form;
    place("model-form").replaceChildren(form.element);
    place("model-add").hidden = true;
    form.focus();
  }

  // After a conflict: the form shows what is stored now.
  async #again(entry) {
    const { configs } = await this.#api.get(BASE);
    const now = configs.find((config) => config.config_id === entry.config_id);
    if (now) this.#edit(now);
    else this.#close();
    await this.load();
  }

  #close() {
    this.#form = null;
    place("model-form").replaceChildren();
    place("model-add").hidden = false;
    place("model-add").focus();
  }

  async #test(entry, result) {
    result.replaceChildren(testing());
    try {
      const report = await this.#api.json("POST", `${BASE}/test`, { body: { config_id: entry.config_id }, timeout: 90_000 });
      result.replaceChildren(reportOf(report));
    } catch (error) {
      result.replaceChildren(problem(error.message));
    }
  }

  async #makeDefault(entry) {
    await this.#do(() => this.#api.json("PUT", `${BASE}/default/${entry.config_id}`, { body: { expected_version: entry.version } }));
  }

  async #delete(entry) {
    const sure = await confirmDeed(
      interpolate(gettext("Delete %(name)s?"), { name: entry.name }),
      gettext("Its key is deleted with it. Conversations stay."), gettext("Delete"));
    if (sure) await this.#do(() => this.#api.json("DELETE", `${BASE}/${entry.config_id}`));
    place("models").focus();
  }

  async #do(deed) {
    try {
      await deed();
    } catch (error) {
      toast(error.message, true);
    }
    await this.load();
  }
}

function answeringWords(configs, answering) {
  if (!answering) return [icon("alert"), gettext("No model answers you yet.")];
  if (answering.is_offline) return [gettext("Built-in rules answer you: no language model is set up.")];
  const name = (id) => configs.find((config) => config.config_id === id)?.name;
  const words = [interpolate(gettext("%(model)s answers you: %(reason)s."), answering)];
  const rest = answering.fallbacks.map(name).filter(Boolean);
  if (rest.length) words.push(" ", interpolate(gettext("If it is down or used up, these go on: %(names)s."), { names: rest.join(", ") }));
  return words;
}

function sourceWords(entry) {
  if (entry.source === "user") return gettext("yours");
  if (entry.source === "site") return gettext("for everybody");
  return interpolate(gettext("of the group %(name)s"), { name: entry.group_name });
}

function keyWords(state) {
  return { stored: gettext("a key is stored"), none: gettext("no key"), unreadable: gettext("its key cannot be read: enter it again, or ask an operator") }[state];
}
