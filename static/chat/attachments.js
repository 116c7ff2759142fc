// Files that wait in the composer for the message that they come with.

import { h, icon, iconButton, patchChildren, spinner } from "./dom.js";
import { gettext, interpolate } from "./i18n.js";
import { Poll, sizeWords, takeFiles, tooLarge, upload } from "./uploads.js";

const isRead = (file) => file.state !== "uploaded" && file.state !== "ingesting";

export class Attachments {
  #conversation = null;
  #files = []; // as the server tells them
  #sending = []; // {name, share, abort}
  #problems = [];
  #poll;

  constructor({ api, box, area, button, limit, news, onChange }) {
    Object.assign(this, { api, box, limit, news, onChange });
    const field = h("input", { type: "file", multiple: true, hidden: true, tabindex: "-1", "aria-hidden": "true", onchange: () => {
      this.add([...field.files]);
      field.value = "";
    } });
    button.after(field);
    button.addEventListener("click", () => field.click());
    takeFiles(area, (files) => this.add(files));
    this.#poll = new Poll(() => this.#load(), () => !this.#files.every(isRead));
  }

  get isSending() {
    return this.#sending.length > 0;
  }

  async show(conversation) {
    this.#poll.stop();
    for (const item of this.#sending) item.abort.abort();
    this.#conversation = conversation;
    this.#files = [];
    this.#sending = [];
    this.#problems = [];
    this.#render();
    if (conversation?.sessionId) await this.#load().catch(() => {});
    if (!this.#files.every(isRead)) this.#poll.start();
  }

  // These belong to a message now; others wait for the next.
  sent(documents = []) {
    const gone = new Set(documents.map((document) => document.id));
    if (!gone.size) return;
    this.#files = this.#files.filter((file) => !gone.has(file.id));
    this.#problems = [];
    this.#render();
  }

  async add(files) {
    const conversation = this.#conversation;
    if (!conversation || !files.length) return;
    this.#problems = [];
    for (const file of files) {
      const problem = tooLarge(file, this.limit);
      if (problem) this.#problems.push(problem);
      else await this.#send(conversation, file);
      if (conversation !== this.#conversation) return;
    }
    this.#render();
    if (!this.#files.every(isRead)) this.#poll.start();
  }

  async #send(conversation, file) {
    const item = { name: file.name, share: 0, abort: new AbortController() };
    this.#sending.push(item);
    this.#render();
    try {
      await conversation.begin();
      const made = await upload(this.api.url(`${conversation.path}/documents`), file, {
        signal: item.abort.signal,
        onProgress: (share) => {
          item.share = share;
          this.#render();
        },
      });
      this.news.textContent = interpolate(gettext("%(name)s is attached"), { name: made.name });
      if (conversation === this.#conversation && !made.message_id) this.#files = [...this.#files.filter((other) => other.id !== made.id), made];
    } catch (error) {
      if (error.code !== "aborted") this.#problems.push(`${file.name}: ${error.message}`);
    } finally {
      this.#sending = this.#sending.filter((other) => other !== item);
      this.#render();
    }
  }

  async #load() {
    const conversation = this.#conversation;
    const files = await this.api.get(`${conversation.path}/documents`);
    if (conversation !== this.#conversation) return;
    this.#files = files.filter((file) => file.message_id === null);
    this.#render();
  }

  async #remove(file) {
    this.#files = this.#files.filter((other) => other !== file);
    this.#render();
    try {
      await this.api.json("DELETE", `${this.#conversation.path}/documents/${file.id}`);
    } catch (error) {
      if (error.status !== 404) this.#problems.push(error.message);
      await this.#load().catch(() => {});
    }
  }

  #render() {
    const chips = [
      ...this.#files.map((file) => this.#chip(file)),
      ...this.#sending.map((item) => sendingChip(item)),
      ...this.#problems.map((text) => h("span", { class: "chip is-failed", role: "alert" }, icon("alert"), h("span", { class: "cut", title: text }, text))),
    ];
    this.box.hidden = !chips.length;
    patchChildren(this.box, chips);
    this.onChange();
  }

  #chip(file) {
    const remove = iconButton("x", interpolate(gettext("Remove %(name)s"), { name: file.name }), { onclick: () => this.#remove(file) });
    if (file.state === "failed") {
      const text = `${file.name}: ${file.error}`;
      return h("span", { class: "chip is-failed" }, icon("alert"), h("span", { class: "cut", title: text }, text), remove);
    }
    const sign = isRead(file) ? icon("doc") : spinner(gettext("Being read"));
    return h("span", { class: `chip${isRead(file) ? "" : " is-working"}` }, sign, h("span", { class: "cut", dir: "auto" }, file.name), h("span", { class: "faint" }, readWords(file)), remove);
  }
}

function readWords(file) {
  const { done, total } = file.progress;
  if (isRead(file)) return sizeWords(file.size);
  return total ? interpolate(gettext("page %(done)s of %(total)s"), { done, total }) : gettext("being read");
}

function sendingChip({ name, share, abort }) {
  return h("span", { class: "chip is-working" }, spinner(gettext("Uploading")), h("span", { class: "cut", dir: "auto" }, name), h("span", { class: "faint num" }, `${Math.round(share * 100)} %`),
    iconButton("x", interpolate(gettext("Stop the upload of %(name)s"), { name }), { onclick: () => abort.abort() }));
}

// At a message: what it came with, to be kept.
export function attachedChips(documents, urlOf) {
  return h("span", { class: "ask__files" }, ...documents.map((file) => h("a", {
    class: "chip", href: urlOf(file.id), download: file.name, title: interpolate(gettext("Download %(name)s"), { name: file.name }),
  }, icon("doc"), h("span", { class: "cut", dir: "auto" }, file.name), h("span", { class: "faint" }, sizeWords(file.size)))));
}
