// Passages that a search found, and one passage with the text around it.

import { button, h } from "../chat/dom.js";
import { gettext, interpolate, ngettext } from "../chat/i18n.js";
import { highlighted } from "./highlight.js";

export class Found {
  #terms = [];

  constructor({ api, section, title, list, onError }) {
    Object.assign(this, { api, section, title, list, onError });
  }

  close() {
    this.section.hidden = true;
    this.list.replaceChildren();
  }

  async search(question) {
    const answer = await this.api.get(`v3/knowledge/search?${new URLSearchParams({ q: question })}`);
    this.#terms = answer.terms;
    const count = answer.passages.length;
    const words = count
      ? interpolate(ngettext("%(count)s passage", "%(count)s passages", count), { count })
      : gettext("Nothing was found in the documents that you may read.");
    this.#show(words, answer.passages.map((passage) => this.#passage(passage)));
  }

  // What a citation opens.
  async open(id) {
    const passage = await this.api.get(`v3/knowledge/passages/${encodeURIComponent(id)}`);
    const beside = (key, words) => (passage[key] ? [button(words, { class: "btn btn--quiet btn--sm", onclick: () => this.open(passage[key]).catch(this.onError) })] : []);
    this.#show(passage.document.name, [
      h("p", { class: "faint" }, [passage.collection_name, passage.location].filter(Boolean).join(" · ")),
      h("div", { class: "know__context", tabindex: "0", role: "region", "aria-label": gettext("The passage in its context"), dir: "auto" },
        passage.before, h("mark", {}, passage.text), passage.after),
      h("div", { class: "know__acts" },
        ...beside("previous", gettext("Previous passage")), ...beside("next", gettext("Next passage")),
        h("a", { class: "btn btn--sm", href: this.api.url(`v3/knowledge/documents/${passage.document.id}/content`), download: true }, gettext("Download"))),
    ]);
    this.list.querySelector("mark").scrollIntoView({ block: "nearest" });
  }

  #passage(passage) {
    const place = [passage.collection_name, passage.location].filter(Boolean).join(" · ");
    return h("article", { class: "know__passage" },
      h("div", { class: "know__head" }, h("b", { dir: "auto" }, passage.document_name), h("span", { class: "faint grow" }, place),
        button(gettext("In context"), { class: "btn btn--quiet btn--sm", "aria-label": interpolate(gettext("Show in context: %(name)s"), { name: passage.document_name }), onclick: () => this.open(passage.id).catch(this.onError) })),
      h("p", { dir: "auto" }, ...highlighted(passage.text, this.#terms)));
  }

  #show(words, nodes) {
    this.section.hidden = false;
    this.title.textContent = words;
    this.list.replaceChildren(...nodes);
    this.title.focus();
  }
}
