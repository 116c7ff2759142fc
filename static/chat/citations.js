// Citations: [n] in the prose, the list below it, and the passage that opens.

import { h, icon, iconButton } from "./dom.js";
import { gettext, interpolate } from "./i18n.js";
import { place } from "./menu.js";
import { cited } from "./terminal.js";
import { clock, longDay } from "./times.js";

const ICONS = { document: "doc", record: "list", row: "list", web: "link", device: "term", memory: "eye" };
const MARK = /\[(\d{1,3})\]/g;

// Numbers in the text → buttons, where a source with that number is known.
export function withCitations(fragment, citations) {
  if (!citations.length) return fragment;
  const known = new Map(citations.map((citation) => [citation.n, citation]));
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) {
    if (!walker.currentNode.parentElement?.closest("code, pre, a, button")) texts.push(walker.currentNode);
  }
  for (const node of texts) {
    const parts = marked(node.data, known);
    if (parts) node.replaceWith(...parts);
  }
  return fragment;
}

function marked(text, known) {
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(MARK)) {
    const citation = known.get(Number(match[1]));
    if (!citation) continue;
    parts.push(text.slice(at, match.index), chip(citation));
    at = match.index + match[0].length;
  }
  return parts.length ? [...parts, text.slice(at)] : null;
}

function chip(citation) {
  const label = interpolate(gettext("Source %(n)s: %(title)s"), { n: citation.n, title: citation.title });
  return h("button", {
    type: "button", class: `cite${citation.stale ? " cite--stale" : ""}`, "data-cite": citation.n,
    "aria-haspopup": "dialog", "aria-label": label, title: citation.title,
  }, String(citation.n));
}

// The sources of an answer, each once, in the order of their numbers.
export function sourceList(citations) {
  if (!citations.length) return null;
  return h("ul", { class: "evid", "aria-label": gettext("Sources") }, ...citations.map((citation) => h("li", {},
    h("button", { type: "button", class: "evid__item", "data-cite": citation.n, "aria-haspopup": "dialog" },
      h("span", { class: "cite", "aria-hidden": "true" }, String(citation.n)), h("b", { class: "cut", dir: "auto" }, citation.title),
      citation.location && citation.kind !== "device" ? h("span", { class: "cut", dir: "auto" }, citation.location) : null,
      citation.stale ? h("span", { class: "badge badge--wait" }, gettext("Changed since")) : null))));
}

let open = null;

// The passage in the top layer, beside what opened it.
export function openPassage(anchor, citation, context) {
  if (open?.anchor === anchor) return open.close();
  open?.close(false);
  const node = h("div", { class: "pop pop--float", role: "dialog", "aria-label": interpolate(gettext("Source %(n)s"), { n: citation.n }), popover: "manual", tabindex: "-1" },
    head(citation), ...body(citation, context), foot(citation, context));
  const close = (refocus = true) => {
    node.remove();
    open = null;
    anchor.classList.remove("is-open");
    document.removeEventListener("pointerdown", outside, true);
    removeEventListener("resize", close);
    if (refocus) anchor.focus();
  };
  const outside = (event) => {
    if (!node.contains(event.target) && !anchor.contains(event.target)) close(false);
  };
  open = { anchor, close };
  (anchor.closest("main") ?? document.body).append(node);
  node.showPopover();
  place(node, anchor);
  anchor.classList.add("is-open");
  node.focus();
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    close();
  });
  node.querySelector("[data-close]").addEventListener("click", () => close());
  document.addEventListener("pointerdown", outside, true);
  addEventListener("resize", close);
  return undefined;
}

function head(citation) {
  return h("header", { class: "pop__head" }, icon(ICONS[citation.kind] ?? "doc"),
    h("b", { class: "grow cut", dir: "auto" }, citation.title),
    citation.location && citation.kind !== "device" ? h("span", { class: "faint cut", dir: "auto" }, citation.location) : null,
    iconButton("x", gettext("Close"), { "data-close": true }));
}

function body(citation, context) {
  const stale = citation.stale ? [h("p", { class: "pop__stale" }, icon("alert", "icon--sm"), gettext("This device was changed after these lines were read."))] : [];
  if (citation.kind === "device") return [...stale, cited(citation, context.prompt(citation.location))];
  return [...stale, h("p", { class: "pop__body pop__text", dir: "auto", tabindex: "0" }, citation.text)];
}

function foot(citation, context) {
  const at = [longDay(citation.time), clock(citation.time, citation.kind === "device")].filter(Boolean).join(", ");
  const link = address(citation, context);
  return h("footer", { class: "pop__foot" }, h("span", { class: "grow" }, at), link);
}

// Pages of our own by their path below the root; the web in a tab of its own.
function address(citation, context) {
  if (!citation.url) return null;
  if (/^https?:/i.test(citation.url)) return h("a", { href: citation.url, target: "_blank", rel: "noopener noreferrer nofollow" }, gettext("Open page"));
  if (/^[a-z]+:/i.test(citation.url) || citation.url.startsWith("//")) return null;
  const words = citation.kind === "document" ? gettext("Open document") : gettext("Open record");
  return h("a", { href: context.url(citation.url.replace(/^\//, "")) }, words);
}
