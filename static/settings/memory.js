// The notes that the copilot keeps for me: shown, added, erased.

import { Api } from "../chat/api.js";
import { confirmDeed } from "../chat/dialogs.js";
import { h, iconButton } from "../chat/dom.js";
import { gettext, interpolate } from "../chat/i18n.js";
import { shortDate } from "../chat/times.js";

const place = (id) => document.getElementById(id);

class MemoryView {
  #api;

  constructor(api) {
    this.#api = api;
    place("memory-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#do(() => this.#add());
    });
    place("memory-erase").addEventListener("click", () => this.#do(() => this.#eraseAll()));
  }

  // Says what went wrong where the person looks; the list shows what is true now.
  async #do(deed) {
    const error = place("memory-error");
    error.hidden = true;
    try {
      if (deed) await deed();
      await this.show();
    } catch (problem) {
      error.textContent = problem.message;
      error.hidden = false;
    }
  }

  start() {
    return this.#do(null);
  }

  async show() {
    const { notes } = await this.#api.get("v3/memory");
    place("memory-list").replaceChildren(...notes.map((note) => this.#note(note)));
    place("memory-empty").hidden = notes.length > 0;
    place("memory-erase").hidden = notes.length === 0;
  }

  #note(note) {
    const when = shortDate(note.said_at);
    const where = note.project ? interpolate(gettext("only in %(name)s"), { name: note.project.name }) : gettext("everywhere");
    const label = interpolate(gettext("Erase: %(text)s"), { text: note.text.slice(0, 60) });
    return h("li", { class: "memory__note" },
      h("div", {}, h("p", { dir: "auto" }, note.text), h("span", { class: "faint" }, `${when} · ${where}`)),
      iconButton("trash", label, { onclick: () => this.#do(() => this.#erase(note)) }));
  }

  async #add() {
    const field = place("memory-text");
    await this.#api.json("POST", "v3/memory", { body: { text: field.value } });
    field.value = "";
    field.focus();
  }

  async #erase(note) {
    await this.#api.json("DELETE", `v3/memory/${note.id}`);
    place("memory-text").focus();
  }

  async #eraseAll() {
    const sure = await confirmDeed(
      gettext("Erase all notes?"), gettext("The copilot then knows nothing of them any more."), gettext("Erase all notes"));
    if (sure) await this.#api.json("DELETE", "v3/memory");
  }
}

if (place("memory")) {
  const { root, urls } = JSON.parse(place("bootstrap").textContent);
  new MemoryView(new Api({ root, loginUrl: urls.login })).start();
}
