// Markdown of the model → safe nodes. No HTML from the text, no images at all
// (a picture's address could carry the conversation to another host).

import DOMPurify from "../vendor/dompurify/purify.js";
import MarkdownIt from "../vendor/markdown-it/markdown-it.js";
import { h, iconButton } from "./dom.js";
import { gettext, interpolate } from "./i18n.js";

const parser = new MarkdownIt({ html: false, linkify: true, typographer: false });
// Bare names such as "show.ip" are commands far more often than addresses.
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
// Left as they are here; after sanitising they become plain links, never requests.
parser.validateLink = (url) => /^(https?:|mailto:)/i.test(url.trim());

parser.renderer.rules.image = (tokens, index) => {
  const token = tokens[index];
  const source = token.attrGet("src") ?? "";
  const text = token.content || gettext("image");
  const { escapeHtml } = parser.utils;
  return `<a href="${escapeHtml(source)}">${escapeHtml(interpolate(gettext("%(text)s (picture, not loaded)"), { text }))}</a>`;
};

const ALLOWED = {
  ALLOWED_TAGS: ["p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a", "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"],
  ALLOWED_ATTR: ["href", "start", "class"],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};

export function renderMarkdown(text) {
  const fragment = DOMPurify.sanitize(parser.render(text), ALLOWED);
  for (const link of fragment.querySelectorAll("a")) {
    link.rel = "noopener noreferrer nofollow";
    link.target = "_blank";
  }
  // The page's own headings are h1 to h3: an answer's start below them.
  for (const heading of fragment.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    heading.replaceWith(h(heading.matches("h1, h2") ? "h3" : "h4", {}, ...heading.childNodes));
  }
  for (const cell of fragment.querySelectorAll("th")) cell.scope = "col";
  for (const table of fragment.querySelectorAll("table")) {
    const frame = h("div", { class: "tablewrap", tabindex: "0", role: "region", "aria-label": gettext("Table") });
    table.replaceWith(frame);
    frame.append(table);
  }
  for (const pre of fragment.querySelectorAll("pre")) pre.replaceWith(codeBlock(pre));
  for (const element of fragment.querySelectorAll("[class]")) {
    if (!element.closest(".code, .tablewrap")) element.removeAttribute("class");
  }
  return fragment;
}

// Where the last block of a growing text begins: what stands before it can no
// longer change, because a later line only ever continues the last open block.
export function startOfLastBlock(text) {
  const starts = parser.parse(text, {}).filter((token) => token.level === 0 && token.nesting >= 0 && token.map).map((token) => token.map[0]);
  let line = starts.at(-1) ?? 0;
  let offset = 0;
  for (; line > 0; line -= 1) offset = text.indexOf("\n", offset) + 1;
  return offset;
}

function codeBlock(pre) {
  const code = pre.querySelector("code");
  const language = /(?:^| )language-([\w+-]+)/.exec(code?.className ?? "")?.[1] ?? "";
  const bar = h("div", { class: "code__bar" }, h("span", { class: "grow" }, language || gettext("text")), iconButton("copy", gettext("Copy code"), { "data-act": "copy-code" }));
  return h("div", { class: "code" }, bar, h("pre", { tabindex: "0", role: "region", "aria-label": gettext("Code") }, h("code", {}, pre.textContent.replace(/\n$/, ""))));
}
