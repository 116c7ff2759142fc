// The steps of a grounded answer as they run, and the state “no evidence”.

import { h, icon } from "./dom.js";
import { gettext, interpolate } from "./i18n.js";
import { sourceList } from "./citations.js";
import { toolLabel } from "./tools.js";
import { count, duration } from "./times.js";

const STATES = { waiting: "", running: "is-running", done: "is-done", failed: "is-failed" };

export function planList(steps) {
  const at = steps.findIndex((step) => step.state === "running");
  const now = at < 0 ? steps.filter((step) => step.state !== "waiting").length : at + 1;
  return [
    h("ol", { class: "plan", "aria-label": gettext("Plan") }, ...steps.map(stepNode)),
    h("p", { class: "plan__short" }, interpolate(gettext("Step %(now)s of %(all)s"), { now, all: steps.length })),
  ];
}

function stepNode(step) {
  return h("li", { class: `plan__step ${STATES[step.state]}`.trim(), "aria-current": step.state === "running" ? "step" : null },
    h("b", { class: "cut", title: toolLabel(step.tool)[1] }, toolLabel(step.tool)[1]),
    h("span", { class: "plan__what cut", dir: "auto", title: wanted(step.arguments) }, wanted(step.arguments)),
    h("span", { class: "num" }, outcome(step)));
}

const wanted = (values) => Object.values(values ?? {}).filter((value) => ["string", "number"].includes(typeof value) && value !== "").join(", ");

function outcome(step) {
  if (step.state === "waiting") return gettext("not yet");
  if (step.state === "running") return gettext("running");
  if (step.state === "failed") return [gettext("failed"), duration(step.elapsedMs)].filter(Boolean).join(" · ");
  const found = step.found === null ? null : interpolate(gettext("%(count)s found"), { count: count(step.found) });
  return [found, duration(step.elapsedMs)].filter(Boolean).join(" · ");
}

// Calm: an answer without evidence is no error.
export function declinedNote(item) {
  const { declined } = item;
  const looked = declined.looked_for ?? [];
  return h("div", { class: "note note--calm" }, icon("search"), h("div", { class: "note__body" },
    h("h3", { class: "note__title" }, declined.reason === "nothing_new" ? gettext("Nothing new found") : gettext("No evidence for an answer")),
    looked.length ? h("p", {}, gettext("Looked for:")) : h("p", {}, gettext("Nothing is set up here in which to look.")),
    looked.length ? h("ul", { class: "declined" }, ...looked.map((step) => h("li", { dir: "auto" }, [toolLabel(step.tool)[1], wanted(step.arguments)].filter(Boolean).join(": ")))) : null,
    declined.nearest?.length ? h("p", {}, gettext("Nearest to it, but no answer:")) : null,
    sourceList(declined.nearest ?? [])));
}

const CONFIDENCE = { low: gettext("Low confidence"), medium: gettext("Medium confidence"), high: gettext("High confidence") };

export function confidenceBadge(answer) {
  return CONFIDENCE[answer?.confidence] ? h("span", { class: "badge" }, CONFIDENCE[answer.confidence]) : null;
}
