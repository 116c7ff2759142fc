// The end of a round: at work, failed, stopped or the line of facts.

import { basisOf } from "./basis.js";
import { button, h, icon, iconButton, spinner } from "./dom.js";
import { verdictButtons } from "./feedback.js";
import { gettext, interpolate } from "./i18n.js";
import { confidenceBadge } from "./plan.js";
import { count } from "./times.js";

const ACTIVE = new Set(["queued", "running", "waiting_approval", "stopping"]);
const STOPPED = { user: gettext("Stopped by you"), interrupted: gettext("Stopped for your next message"), withdrawn: gettext("Taken back") };

export function roundEnd(round, context) {
  if (round.status === "pending") return null;
  if (ACTIVE.has(round.status)) return working(round);
  const parts = [...round.modelNotes, ...round.warnings].map((text) => h("p", { class: "soft foot__note" }, icon("alert", "icon--sm"), h("span", { dir: "auto" }, text)));
  if (round.error) parts.push(failure(round, context));
  parts.push(foot(round, context));
  return h("li", { class: `hop hop--end${round.error ? " is-failed" : ""}` }, ...(round.error ? [h("span", { class: "hop__mark" }, icon("x"))] : []), ...parts);
}

function working(round) {
  const last = round.items.at(-1);
  const isVisible = last && ((last.kind === "tool" && ["writing", "ready", "running"].includes(last.phase)) || (last.kind === "text" && last.text && !last.isDone) || last.kind === "approval");
  if (isVisible && !round.statusText) return null;
  const words = round.statusText || { queued: gettext("Starting"), stopping: gettext("Stopping"), waiting_approval: gettext("Waiting for a decision") }[round.status] || gettext("Thinking");
  return h("li", { class: "hop hop--text is-running" }, h("span", { class: "hop__mark" }, spinner()), h("p", { class: "soft work" }, words));
}

function failure(round, context) {
  const { code, text } = round.error;
  const hasParts = round.items.length > 0;
  const acts = [button("", { onclick: () => context.onAct("ask", round.ask?.text) }, icon("retry"), gettext("Retry"))];
  if (code === "llm_not_configured") acts.unshift(button(gettext("Set up a model"), { class: "btn btn--primary", onclick: () => context.onAct("settings") }));
  if (code === "project_not_opened") acts.unshift(button(gettext("Open project"), { class: "btn btn--primary", onclick: () => context.onAct("open-project") }));
  return h("div", { class: "note note--bad", role: "alert" }, icon("alert"), h("div", { class: "note__body" },
    h("h3", { class: "note__title" }, code === "llm_not_configured" ? gettext("No model is set up") : gettext("The answer could not be finished")),
    h("p", { dir: "auto" }, text),
    hasParts ? h("p", {}, gettext("What was written and run so far is kept.")) : null,
    h("div", { class: "note__acts" }, ...acts)));
}

// Which model answered; why it was this one opens below its name.
function modelFact(round) {
  if (!round.model || !round.modelReason) return round.model;
  return h("details", { class: "foot__model" }, h("summary", {}, round.model, icon("right", "icon--sm icon--dir tool__chev")),
    h("p", { dir: "auto" }, interpolate(gettext("Chosen: %(reason)s"), { reason: round.modelReason })));
}

function foot(round, context) {
  const answer = round.items.findLast((item) => item.kind === "text");
  const isOffline = round.isOffline || context.isOffline(round.model);
  const facts = [
    isOffline ? null : modelFact(round),
    round.usage ? interpolate(gettext("%(count)s in"), { count: count(round.usage.input) }) : null,
    round.usage ? interpolate(gettext("%(count)s out"), { count: count(round.usage.output) }) : null,
    ...basisOf(round, context.isSimulated()),
  ].filter(Boolean);
  const isPartial = round.status !== "succeeded" || answer?.isPartial;
  const badge = round.stopped ? (STOPPED[round.stopped] ?? interpolate(gettext("Stopped: %(reason)s"), { reason: round.stopped })) : isPartial && answer ? gettext("Not finished") : "";
  return h("div", { class: "foot" },
    answer?.text ? h("span", { class: "foot__acts" },
      iconButton("copy", gettext("Copy answer"), { onclick: () => context.onAct("copy", answer.text) }),
      ...(answer.isDone ? verdictButtons(answer, context) : []),
      round.stopped ? null : iconButton("retry", gettext("Ask again"), { onclick: () => context.onAct("ask", round.ask?.text) })) : null,
    badge ? h("span", { class: "badge" }, icon("stop"), badge) : null,
    round.status === "succeeded" ? confidenceBadge(answer) : null,
    round.stopped && !answer ? h("span", { class: "faint" }, gettext("Nothing was written yet; what ran is kept.")) : null,
    round.stopped ? button(gettext("Ask again"), { class: "btn btn--quiet btn--sm", onclick: () => context.onAct("ask", round.ask?.text) }) : null,
    isOffline ? h("span", { class: "badge badge--sim", title: round.modelReason || false }, icon("list"), gettext("Offline model")) : null,
    h("span", { class: "foot__facts" }, ...facts.map((fact) => h("span", {}, fact))));
}
