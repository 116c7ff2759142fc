// The documents of one collection: uploaded, watched while they are read, removed.

import { confirmDeed } from "../chat/dialogs.js";
import { button, h, icon, iconButton, patchChildren } from "../chat/dom.js";
import { gettext, interpolate, ngettext } from "../chat/i18n.js";
import { Poll, sizeWords, takeFiles, tooLarge, upload } from "../chat/uploads.js";

const ACCEPT = ".txt,.md,.html,.htm,.pdf,.docx,.csv,.cfg,.conf,.log,text/plain";
const isBusy = (document) => document.state === "uploaded" || document.state === "ingesting";

export class Documents {
  #collection = null;
  #documents = [];
  #sending = [];
  #poll;

  constructor({ api, box, limit, news, onError, onChange }) {
    Object.assign(this, { api, box, limit, news, onError, onChange });
    this.#poll = new Poll(() => this.#load(), () => this.#documents.some(isBusy));
    takeFiles(box, (files) => this.#add(files));
  }

  async show(collection) {
    this.#poll.stop();
    this.#collection = collection;
    this.#documents = [];
    this.#sending = [];
    this.box.replaceChildren();
    if (!collection) return;
    await this.#load();
    if (this.#documents.some(isBusy)) this.#poll.start();
  }

  get #path() {
    return `v3/knowledge/collections/${this.#collection.id}/documents`;
  }

  async #load() {
    const collection = this.#collection;
    const documents = await this.api.get(`${this.#path}?limit=500`);
    // Another one may be shown by now.
    if (collection !== this.#collection) return;
    const wasBusy = this.#documents.filter(isBusy).map((document) => document.id);
    this.#documents = documents;
    this.#render();
    const ended = documents.filter((document) => wasBusy.includes(document.id) && !isBusy(document));
    if (ended.length) {
      this.news.textContent = ended.map((document) => `${document.name}: ${stateWords(document)}`).join("; ");
      this.onChange();
    }
  }

  async #add(files, document = null) {
    if (!this.#collection?.can_write) return;
    for (const file of files) {
      const problem = tooLarge(file, this.limit);
      if (problem) this.onError(new Error(problem));
      else await this.#send(file, document);
    }
    this.onChange();
    this.#poll.start();
  }

  async #send(file, document) {
    const path = document ? `v3/knowledge/documents/${document.id}` : this.#path;
    const item = { name: file.name, share: 0 };
    this.#sending.push(item);
    this.#render();
    try {
      await upload(this.api.url(path), file, {
        method: document ? "PUT" : "POST",
        onProgress: (share) => {
          item.share = share;
          this.#render();
        },
      });
    } catch (error) {
      this.onError(new Error(`${file.name}: ${error.message}`));
    } finally {
      this.#sending = this.#sending.filter((other) => other !== item);
      await this.#load().catch(this.onError);
    }
  }

  async #remove(document) {
    const sure = await confirmDeed(
      gettext("Delete this document?"),
      interpolate(gettext("%(name)s is then no longer found or cited."), { name: document.name }), gettext("Delete"));
    if (!sure) return;
    await this.api.json("DELETE", `v3/knowledge/documents/${document.id}`);
    await this.#load();
    this.onChange();
    this.box.querySelector("h2")?.focus();
  }

  async #removeAll() {
    const { id, name } = this.#collection;
    const sure = await confirmDeed(
      gettext("Delete this collection?"),
      interpolate(gettext("%(name)s and all its documents are removed."), { name }), gettext("Delete"));
    if (!sure) return;
    await this.api.json("DELETE", `v3/knowledge/collections/${id}`);
    this.onChange({ isGone: true });
  }

  #render() {
    const { can_write: canWrite } = this.#collection;
    const rows = [...this.#sending.map(sendingRow), ...this.#documents.map((document) => this.#row(document, canWrite))];
    patchChildren(this.box, [
      this.#head(canWrite),
      ...(canWrite ? [this.#dropZone()] : []),
      rows.length ? h("div", {}, ...rows) : h("p", { class: "soft" }, gettext("There is no document here yet.")),
    ]);
  }

  #head(canWrite) {
    return h("div", { class: "know__head" }, h("h2", { dir: "auto", tabindex: "-1" }, this.#collection.name),
      ...(canWrite ? [iconButton("trash", gettext("Delete this collection"), { onclick: () => this.#removeAll().catch(this.onError) })] : []));
  }

  // Kept: the file field loses what was chosen when it is made anew.
  #dropZone() {
    const existing = this.box.querySelector(".know__drop");
    if (existing) return existing;
    const field = h("input", { type: "file", multiple: true, hidden: true, accept: ACCEPT, "aria-hidden": "true", tabindex: "-1", onchange: () => {
      this.#add([...field.files]).catch(this.onError);
      field.value = "";
    } });
    return h("div", { class: "know__drop" },
      button("", { class: "btn", onclick: () => field.click() }, icon("doc", "icon--sm"), gettext("Upload documents")), field,
      h("span", { class: "faint" }, interpolate(gettext("or drop them here: text, Markdown, HTML, PDF, Word, CSV, configurations, logs; %(size)s at most"), { size: sizeWords(this.limit) })));
  }

  #row(document, canWrite) {
    const url = this.api.url(`v3/knowledge/documents/${document.id}/content`);
    const named = (words) => interpolate(words, { name: document.name });
    const replace = () => {
      const field = h("input", { type: "file", accept: ACCEPT, onchange: () => this.#add([...field.files], document).catch(this.onError) });
      field.click();
    };
    return h("div", { class: "know__row" },
      h("a", { class: "know__name", href: url, download: true, dir: "auto" }, document.name),
      h("span", { class: "know__acts" },
        ...(canWrite ? [
          iconButton("retry", named(gettext("New version of %(name)s")), { onclick: replace }),
          iconButton("trash", named(gettext("Delete %(name)s")), { onclick: () => this.#remove(document).catch(this.onError) }),
        ] : [])),
      h("span", { class: `know__state${document.state === "failed" ? " is-failed" : ""}` },
        ...(isBusy(document) && document.progress.total ? [h("progress", { max: document.progress.total, value: document.progress.done, "aria-label": named(gettext("Progress of %(name)s")) })] : []),
        stateWords(document)));
  }
}

function sendingRow({ name, share }) {
  return h("div", { class: "know__row" }, h("span", { class: "know__name", dir: "auto" }, name),
    h("span", { class: "know__state" },
      h("progress", { max: 1, value: share, "aria-label": interpolate(gettext("Upload of %(name)s"), { name }) }), gettext("Uploading")));
}

function stateWords(document) {
  const { done, total } = document.progress;
  switch (document.state) {
    case "uploaded":
      return gettext("Waits to be read");
    case "ingesting":
      return total ? interpolate(gettext("Being read: %(done)s of %(total)s"), { done, total }) : gettext("Being read");
    case "failed":
      return document.error || gettext("It could not be read.");
    default: {
      const count = document.passages;
      const passages = interpolate(ngettext("%(count)s passage", "%(count)s passages", count), { count });
      const version = document.version > 1 ? interpolate(gettext("version %(number)s"), { number: document.version }) : "";
      return [passages, sizeWords(document.size), version, document.note].filter(Boolean).join(" · ");
    }
  }
}
