// What “Test connection” has found, and what went wrong, in words.

import { h, icon, spinner } from "../chat/dom.js";
import { gettext, interpolate } from "../chat/i18n.js";

export function testing() {
  return h("p", { class: "soft" }, spinner(), " ", gettext("One tiny question is being asked …"));
}

export function reportOf(report) {
  const rows = [
    [gettext("Called"), `POST ${report.address}`],
    [gettext("Status"), report.status === null ? gettext("none") : String(report.status)],
    [gettext("Took"), interpolate(gettext("%(ms)s ms"), { ms: report.elapsed_ms })],
  ];
  if (report.ok) {
    rows.push(
      [gettext("First word after"), interpolate(gettext("%(ms)s ms"), { ms: report.first_token_ms ?? "–" })],
      [gettext("Streams"), yesNo(report.streaming)],
      [gettext("Calls functions"), report.tool_calls === null ? gettext("it was offered one and did not") : yesNo(report.tool_calls)],
      [gettext("Tokens"), tokens(report.usage)],
      [gettext("It said"), report.text || "–"]);
  }
  return h("div", { class: `report ${report.ok ? "is-good" : "is-bad"}` },
    h("p", { class: "report__title" }, icon(report.ok ? "check" : "alert"), report.message),
    report.hint ? h("p", {}, report.hint) : null,
    h("dl", {}, ...rows.flatMap(([term, value]) => [h("dt", {}, term), h("dd", { dir: "auto" }, value)])));
}

function yesNo(value) {
  return { true: gettext("yes"), false: gettext("no") }[value] ?? gettext("unknown");
}

function tokens(usage) {
  if (!usage) return gettext("not told");
  const known = (count) => count ?? gettext("unknown");
  return interpolate(gettext("%(read)s read, %(written)s written"), { read: known(usage.input_tokens), written: known(usage.output_tokens) });
}

export function problem(text, acts = []) {
  return h("div", { class: "note note--bad", role: "alert" }, icon("alert"), h("div", { class: "note__body" },
    h("p", {}, text), ...(acts.length ? [h("div", { class: "note__acts" }, ...acts)] : [])));
}
