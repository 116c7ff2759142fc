// Ink: what a device said, word for word.

import { h, icon } from "./dom.js";
import { gettext, interpolate, ngettext } from "./i18n.js";
import { parseJson } from "./tools.js";
import { clock, duration } from "./times.js";

const SHOWN_LINES = 120;
const TROUBLE = /^\s*%|not reachable|unreachable|\btimeout\b|timed out/i;

// One terminal a device, from the result of run_commands; null when it is none.
export function terminals(item, prompt) {
  const output = parseJson(item.output ?? "");
  if (!Array.isArray(output?.devices)) return null;
  return output.devices.filter((entry) => entry && typeof entry === "object").map((entry) => terminal(entry, item, prompt));
}

function terminal(entry, item, prompt) {
  const device = String(entry.device ?? gettext("device"));
  const commands = Array.isArray(entry.commands) ? entry.commands : [];
  const bar = h("figcaption", { class: "term__bar" },
    h("b", { dir: "auto" }, device),
    h("span", { class: "grow num" }, [clock(item.endedAt, true), duration(item.elapsedMs)].filter(Boolean).join(" · ")),
    h("button", { type: "button", class: "iconbtn", "data-act": "wrap", "aria-label": interpolate(gettext("Wrap lines of %(device)s"), { device }), "aria-pressed": "false" }, icon("wrap", "icon--sm icon--dir")),
    h("button", { type: "button", class: "iconbtn", "data-act": "copy-term", "aria-label": interpolate(gettext("Copy output of %(device)s"), { device }) }, icon("copy", "icon--sm")));
  const inner = h("span", { class: "term__in" });
  for (const result of commands) {
    inner.append(h("span", { class: "ln" }, h("i", {}, prompt(device)), ` ${result?.command ?? ""}`));
    inner.append(...lines(String(result?.output ?? "")));
    if (result?.error) inner.append(line(String(result.error), true));
    if (result?.truncated) inner.append(h("span", { class: "ln ln--faint" }, gettext("⋯ the device said more; it was cut here")));
  }
  if (entry.error) inner.append(line(String(entry.error), true));
  return h("figure", { class: "term" }, bar, h("code", { class: "term__out", tabindex: "0", role: "region", "aria-label": outputOf(device) }, inner));
}

const outputOf = (device) => interpolate(gettext("Output of %(device)s"), { device });

// The lines that an answer cites, as the device printed them.
export function cited(citation, prompt) {
  const command = citation.title.split(" · ").slice(1).join(" · ");
  const inner = h("span", { class: "term__in" }, h("span", { class: "ln" }, h("i", {}, prompt), ` ${command}`), ...lines(citation.text));
  return h("figure", { class: "term" }, h("code", { class: "term__out", tabindex: "0", role: "region", "aria-label": outputOf(citation.location) }, inner));
}

const line = (text, isTrouble = TROUBLE.test(text)) => h("span", { class: isTrouble ? "ln ln--bad" : "ln" }, text);

function lines(output) {
  const all = output.replace(/\r/g, "").replace(/^\n+|\s+$/g, "").split("\n");
  if (all.length === 1 && all[0] === "") return [];
  if (all.length <= SHOWN_LINES + 20) return all.map((text) => line(text));
  const hidden = all.slice(SHOWN_LINES);
  const gap = h("button", { type: "button", class: "ln__gap", onclick: () => gap.replaceWith(...hidden.map((text) => line(text))) }, interpolate(ngettext("⋯ %(count)s line", "⋯ %(count)s lines", hidden.length), { count: hidden.length }));
  return [...all.slice(0, SHOWN_LINES).map((text) => line(text)), gap];
}

// Any other result: indented JSON or the text itself, compact and on ink.
export function plainResult(item) {
  const value = parseJson(item.output ?? "");
  const text = value ? JSON.stringify(value, null, 2) : (item.output ?? "");
  const inner = h("span", { class: "term__in" }, ...lines(text));
  return h("figure", { class: "term term--wrap" }, h("code", { class: "term__out term__out--short", tabindex: "0", role: "region", "aria-label": gettext("Result") }, inner));
}

export function copyOf(figure) {
  return [...figure.querySelectorAll(".ln")].map((element) => element.textContent).join("\n");
}
