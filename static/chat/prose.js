// A growing answer: finished blocks are rendered once, only the last one again.

import { withCitations } from "./citations.js";
import { h, patchChildren } from "./dom.js";
import { renderMarkdown, startOfLastBlock } from "./markdown.js";

export class Prose {
  node = h("div", { class: "prose", dir: "auto" });
  #settled = "";
  #settledNodes = [];
  #citations = [];

  update(text, isDone, citations = []) {
    // At the end once as a whole: references may be defined below their use.
    if (isDone || citations !== this.#citations || !text.startsWith(this.#settled)) this.#forget();
    this.#citations = citations;
    let tail = text.slice(this.#settled.length);
    if (!isDone) {
      const start = startOfLastBlock(tail);
      if (start > 0) {
        this.#settledNodes.push(...this.#render(tail.slice(0, start)).childNodes);
        this.#settled += tail.slice(0, start);
        tail = tail.slice(start);
      }
    }
    const fragment = this.#render(tail);
    if (!isDone && text) (lastLine(fragment) ?? fragment).append(h("span", { class: "caret" }));
    patchChildren(this.node, [...this.#settledNodes, ...fragment.childNodes]);
    // Equal nodes were kept in place: those are the settled ones from now on.
    this.#settledNodes = [...this.node.childNodes].slice(0, this.#settledNodes.length);
  }

  #render(text) {
    return withCitations(renderMarkdown(text), this.#citations);
  }

  #forget() {
    this.#settled = "";
    this.#settledNodes = [];
  }
}

function lastLine(fragment) {
  let element = fragment.lastElementChild;
  while (element?.matches("ul, ol, li, blockquote") && element.lastElementChild) element = element.lastElementChild;
  return element?.matches("p, li, h3, h4") ? element : null;
}
