// Events → what the conversation shows. Pure: every function returns a new view
// and leaves unchanged parts identical, so the renderer can skip them.
//
// view:  {rounds: [round], title, cursor}
// round: {round, runId, attempt, seq, status, ask, items, usage, model, modelReason, modelNotes, warnings, isOffline, lab, error, stopped, statusText, progressText}
// item:  {kind: "text", id, text, reasoning, isDone} | {kind: "tool", id, messageId, name, args, isComplete, phase, ...}
//        | {kind: "plan", id, steps: [{tool, arguments, callId, state, found, elapsedMs}]}
//        | {kind: "approval", id, round, approval, isLastOfBatch}

import { gettext } from "./i18n.js";

const ACTIVE = new Set(["pending", "queued", "running", "waiting_approval", "stopping"]);

export const emptyView = () => ({ rounds: [], title: null, cursor: null });
export const isActive = (round) => ACTIVE.has(round.status);
export const activeRound = (view) => view.rounds.find((round) => isActive(round) && round.status !== "pending") ?? null;

const NO_NOTES = [];

function newRound(number, values = {}) {
  return {
    round: number, runId: null, attempt: 0, seq: 0, status: "running", ask: null, items: [], usage: null,
    model: null, modelReason: "", modelNotes: NO_NOTES, warnings: NO_NOTES, isOffline: false, lab: null, error: null, stopped: null, statusText: "", progressText: "", ...values,
  };
}

export function withRound(view, number, change) {
  const found = view.rounds.find((round) => round.round === number);
  const changed = change(found ?? newRound(number));
  const rounds = found
    ? view.rounds.map((round) => (round === found ? changed : round))
    : [...view.rounds, changed].sort((a, b) => a.round - b.round);
  return { ...view, rounds };
}

function withItem(round, id, make, change) {
  const found = round.items.find((item) => item.id === id);
  if (!found) return { ...round, items: [...round.items, change(make())] };
  return { ...round, items: round.items.map((item) => (item === found ? change(item) : item)) };
}

const NO_CITATIONS = [];
const newText = (id) => ({ kind: "text", id, text: "", reasoning: "", isDone: false, citations: NO_CITATIONS, confidence: null, declined: null });
const newTool = (id) => ({
  kind: "tool", id, messageId: null, name: "", args: "", isComplete: false,
  phase: "writing", isError: false, output: null, elapsedMs: null, startedAt: null, endedAt: null,
});

function storedMessage(round, message) {
  const metadata = message.metadata ?? {};
  const at = message.created_at;
  if (message.role === "user") return { ...round, ask: { id: message.id, text: message.content ?? "", at, documents: metadata.documents ?? [] } };
  if (message.role === "tool") {
    const metaError = metadata.status === "error" || metadata.is_error === true;
    return withItem(round, message.tool_call_id, () => ({ ...newTool(message.tool_call_id), name: message.name ?? "" }), (item) => ({
      ...item, phase: metadata.cancelled ? "abandoned" : "done", isComplete: true, output: message.content ?? "", isError: item.isError || metaError,
      found: metadata.found ?? item.found ?? null, elapsedMs: metadata.elapsed_ms ?? item.elapsedMs, endedAt: at ?? item.endedAt,
    }));
  }
  if (message.role !== "assistant") return round;
  let next = {
    ...round,
    model: metadata.model ?? round.model,
    modelReason: metadata.model_reason ?? round.modelReason,
    modelNotes: metadata.model_notes ?? round.modelNotes,
    warnings: metadata.warnings ?? round.warnings,
    isOffline: metadata.is_offline ?? round.isOffline,
    lab: metadata.lab ?? round.lab,
    stopped: metadata.stopped ? (round.stopped ?? "user") : round.stopped,
  };
  if (metadata.error) return { ...next, error: { text: errorText(metadata.error, message.content), code: metadata.error?.code ?? "" } };
  if (message.content || metadata.reasoning) {
    next = withItem(next, message.id, () => newText(message.id), (item) => ({
      ...item, text: message.content || item.text, reasoning: metadata.reasoning ?? item.reasoning, isDone: true, isPartial: Boolean(metadata.is_partial),
      verdict: metadata.feedback?.value ?? item.verdict ?? null,
      citations: metadata.citations ?? item.citations, confidence: metadata.confidence ?? null, declined: metadata.declined ?? null,
    }));
  }
  if (metadata.plan) next = planned(next, message.tool_calls ?? []);
  for (const call of message.tool_calls ?? []) {
    next = withItem(next, call.id, () => newTool(call.id), (item) => ({
      ...item, name: call.function.name, args: call.function.arguments, messageId: message.id, isComplete: true,
      phase: item.phase === "writing" ? "ready" : item.phase,
    }));
  }
  return next;
}

/** The view with a person's verdict ("up", "down" or null) on one answer. */
export function withVerdict(view, messageId, verdict) {
  const rounds = view.rounds.map((round) => {
    if (!round.items.some((item) => item.id === messageId)) return round;
    return { ...round, items: round.items.map((item) => (item.id === messageId ? { ...item, verdict } : item)) };
  });
  return { ...view, rounds };
}

/** The view with the marks of what a later change has overtaken, as `messages` have them. */
export function withStale(view, messages) {
  const known = new Map(messages.map((message) => [message.id, message.metadata?.citations]));
  const rounds = view.rounds.map((round) => {
    const isOld = (item) => item.kind === "text" && known.get(item.id)?.some((one) => one.stale && !item.citations.find((shown) => shown.n === one.n)?.stale);
    if (!round.items.some(isOld)) return round;
    return { ...round, items: round.items.map((item) => (isOld(item) ? { ...item, citations: known.get(item.id) } : item)) };
  });
  return { ...view, rounds };
}

function parsed(text) {
  try {
    return JSON.parse(text || "{}");
  } catch {
    return {};
  }
}

// The steps of a grounded answer; each is run by the call with its id.
function planned(round, calls) {
  const id = `plan-${round.round}`;
  const steps = calls.map((call) => ({
    tool: call.function.name, arguments: parsed(call.function.arguments), callId: call.id, state: "waiting", found: null, elapsedMs: null,
  }));
  return withItem(round, id, () => ({ kind: "plan", id, steps }), (item) => item);
}

const STEP_STATES = { running: "running", abandoned: "failed" };

function followed(round) {
  const plan = round.items.find((item) => item.kind === "plan");
  if (!plan) return round;
  const calls = new Map(round.items.filter((item) => item.kind === "tool").map((item) => [item.id, item]));
  const steps = plan.steps.map((step) => {
    const call = calls.get(step.callId);
    if (!call) return step;
    const state = call.phase === "done" ? (call.isError ? "failed" : "done") : (STEP_STATES[call.phase] ?? "waiting");
    const found = call.found ?? null;
    if (state === step.state && found === step.found && call.elapsedMs === step.elapsedMs) return step;
    return { ...step, state, found, elapsedMs: call.elapsedMs };
  });
  if (steps.every((step, index) => step === plan.steps[index])) return round;
  return { ...round, items: round.items.map((item) => (item === plan ? { ...plan, steps } : item)) };
}

function errorText(error, content) {
  if (typeof error === "string" && error) return error;
  return error?.message || error?.error || content || gettext("Something went wrong.");
}

function addUsage(total, part) {
  if (!part || (part.input_tokens == null && part.output_tokens == null)) return total;
  return { input: (total?.input ?? 0) + (part.input_tokens ?? 0), output: (total?.output ?? 0) + (part.output_tokens ?? 0) };
}

// Calls without a result when the run ends will never get one.
function closed(round, status) {
  const items = round.items.map((item) => {
    if (item.kind === "tool" && item.phase !== "done") return { ...item, phase: "abandoned", isComplete: true };
    if (item.kind === "text" && !item.isDone) return { ...item, isDone: true, isPartial: status !== "succeeded" };
    if (item.kind === "approval" && item.approval.status === "waiting") return { ...item, approval: { ...item.approval, status: "cancelled" } };
    return item;
  });
  return { ...round, items, status, statusText: "", progressText: "" };
}

const isWaiting = (round) => round.items.some((item) => item.kind === "approval" && item.approval.status === "waiting");

// Each card stands below the call that it is about; an edit is what the call shows.
export function withApprovals(round, approvals) {
  let { items } = round;
  for (const approval of approvals) {
    const call = items.findIndex((item) => item.kind === "tool" && item.id === approval.tool_call_id);
    const found = items.findIndex((item) => item.kind === "approval" && item.id === approval.id);
    const item = { kind: "approval", id: approval.id, round: round.round, approval, isLastOfBatch: false };
    items = found >= 0 ? items.with(found, { ...items[found], approval }) : call >= 0 ? items.toSpliced(call + 1, 0, item) : [...items, item];
    if (call >= 0 && approval.arguments && approval.asked_arguments) items = items.with(call, { ...items[call], args: JSON.stringify(approval.arguments) });
  }
  const open = items.filter((item) => item.kind === "approval" && item.approval.status === "waiting");
  const last = open.length > 1 ? open.at(-1).id : null;
  items = items.map((item) => (item.kind === "approval" && item.isLastOfBatch !== (item.id === last) ? { ...item, isLastOfBatch: item.id === last } : item));
  return { ...round, items };
}

const changes = {
  attempt(round, event) {
    const gone = new Set(event.discarded ?? []);
    const items = round.items.filter((item) => !gone.has(item.id) && !gone.has(item.messageId));
    const isRestarted = round.attempt > 1 && !round.isDecided;
    return { ...round, items, status: "running", isDecided: false, statusText: isRestarted ? gettext("Starting again where the server stopped") : "" };
  },
  message: (round, event) => storedMessage(round, event.message),
  // What a tool said of its work holds until the answer begins.
  content: (round, event) => withItem({ ...round, progressText: "" }, event.message_id, () => newText(event.message_id), (item) => ({ ...item, text: item.text + event.content })),
  reasoning: (round, event) => withItem(round, event.message_id, () => newText(event.message_id), (item) => ({ ...item, reasoning: item.reasoning + event.content })),
  tool_call(round, event) {
    const call = event.tool_call;
    const id = event.tool_call_id ?? call.id;
    return withItem(round, id, () => newTool(id), (item) => {
      const isComplete = item.isComplete || Boolean(call.function.complete);
      return {
        ...item, name: call.function.name || item.name, args: call.function.arguments ?? item.args, messageId: event.message_id ?? item.messageId, isComplete,
        phase: item.phase === "writing" && isComplete ? "ready" : item.phase,
      };
    });
  },
  tool_start: (round, event) => withItem(round, event.tool_call_id, () => newTool(event.tool_call_id), (item) => ({
    ...item, name: event.tool_name || item.name, phase: "running", isComplete: true, startedAt: event.timestamp,
  })),
  tool_end: (round, event) => withItem(round, event.tool_call_id, () => newTool(event.tool_call_id), (item) => ({
    ...item, name: event.tool_name || item.name, phase: "done", isComplete: true, isError: event.status === "error",
    output: event.tool_output ?? "", elapsedMs: event.elapsed_ms ?? null, endedAt: event.timestamp,
  })),
  status: (round, event) => event.status === "progress" ? { ...round, progressText: event.text ?? "" } : ({ ...round, status: ACTIVE.has(event.status) ? event.status : round.status, statusText: event.text ?? "" }),
  step: (round, event) => withItem(round, event.tool_call_id, () => newTool(event.tool_call_id), (item) => ({ ...item, found: event.citations.length })),
  citations: (round, event) => withItem(round, event.message_id, () => newText(event.message_id), (item) => ({ ...item, citations: event.citations })),
  usage: (round, event) => ({ ...round, usage: addUsage(round.usage, event), model: event.operation === "title" ? round.model : (event.model ?? round.model) }),
  approval_required: (round, event) => ({ ...withApprovals(round, event.approvals ?? []), status: "waiting_approval" }),
  approval_resolved(round, event) {
    const next = withApprovals(round, event.approvals ?? []);
    // Going on after a decision is no start after a failure.
    return isWaiting(next) ? next : { ...next, status: next.status === "waiting_approval" ? "running" : next.status, isDecided: true };
  },
  error: (round, event) => ({ ...round, error: { text: event.error || gettext("Something went wrong."), code: event.code ?? "" } }),
  stopped: (round, event) => ({ ...round, stopped: event.reason || "user" }),
  done(round, event) {
    const next = closed(round, event.status);
    const usage = addUsage(null, event.usage) ?? next.usage;
    if (event.status === "failed" && !next.error) return { ...next, usage, error: { text: event.reason || gettext("Something went wrong."), code: "" } };
    if (event.status === "stopped" && !next.stopped) return { ...next, usage, stopped: event.reason || "user" };
    return { ...next, usage };
  },
};

export function reduce(view, event) {
  if (typeof event.seq !== "number" || typeof event.round !== "number") return view;
  const known = view.rounds.find((round) => round.round === event.round);
  // An older attempt is a worker that was given up; a lower number was seen before.
  if (known && (event.attempt ?? 1) < known.attempt) return view;
  const isNewAttempt = known && (event.attempt ?? 1) > known.attempt;
  if (known && event.seq <= known.seq && !isNewAttempt) return view;
  const cursor = `${event.round}.${event.seq}`;
  if (event.type === "snapshot") return snapshot(view, event, cursor);
  const title = event.type === "title" ? event.title : view.title;
  return withRound({ ...view, title, cursor }, event.round, (round) => {
    const base = { ...round, seq: event.seq, attempt: event.attempt ?? 1, runId: event.run_id ?? round.runId };
    if (base.status === "pending" || base.status === "queued") base.status = "running";
    if (event.type !== "usage" && event.type !== "title" && event.type !== "log") base.statusText = "";
    return followed(changes[event.type]?.(base, event) ?? base);
  });
}

// Rounds from stored messages and runs. That of `active` gets no content: replay brings it.
export function fromHistory(messages, runs = [], active = null) {
  const runOf = new Map(runs.map((run) => [run.round, run]));
  let view = emptyView();
  let last = 0;
  for (const message of messages) {
    const number = message.metadata?.round ?? (message.role === "user" ? last + 1 : Math.max(last, 1));
    last = Math.max(last, number);
    view = withRound(view, number, (round) => {
      if (active && number === active.round && message.role !== "user") return round;
      return storedMessage({ ...round, runId: message.metadata?.run_id ?? round.runId }, message);
    });
  }
  const rounds = view.rounds.map((round) => {
    if (active && round.round === active.round) return { ...round, status: active.status, runId: active.id };
    if (active && round.round > active.round) return { ...round, status: "pending" };
    return { ...followed(withRun(round, runOf.get(round.round))), seq: Infinity, attempt: Infinity };
  });
  return { ...view, rounds };
}

// How a finished round ended, by its run where the list still has it.
function withRun(round, run) {
  const guess = round.error ? "failed" : round.stopped ? "stopped" : "succeeded";
  const next = closed(round, run?.status ?? guess);
  if (!run) return next;
  next.usage = addUsage(next.usage, run);
  if (run.status === "failed" && !next.error) next.error = { text: run.error || gettext("Something went wrong."), code: "" };
  if (next.error) next.error = { ...next.error, code: run.error_code ?? next.error.code };
  if (run.status === "stopped") next.stopped = run.reason || "user";
  return next;
}

function snapshot(view, event, cursor) {
  const run = event.run;
  const fresh = fromHistory(event.messages);
  let next = { ...view, title: event.title ?? view.title, cursor };
  const first = Math.min(run.round, ...fresh.rounds.map((round) => round.round));
  next.rounds = [...view.rounds.filter((round) => round.round < first || round.round > run.round), ...fresh.rounds];
  next.rounds.sort((a, b) => a.round - b.round);
  next = withRound(next, run.round, (round) => {
    let current = { ...round, items: round.items.map(reopened), seq: event.seq, attempt: event.attempt ?? 1, runId: run.id, status: run.status };
    for (const call of event.tool_calls ?? []) {
      current = withItem(current, call.id, () => newTool(call.id), (item) => ({ ...item, ...fromRow(call) }));
    }
    current = withApprovals(current, event.approvals ?? []);
    if (run.error) current.error = { text: errorText(run.error), code: "" };
    return followed(ACTIVE.has(run.status) ? current : closed(current, run.status));
  });
  return next;
}

const reopened = (item) => (item.phase === "abandoned" ? { ...item, phase: "ready" } : item);

function fromRow(call) {
  const isDone = call.output !== null && call.output !== undefined && call.status !== "running";
  return {
    name: call.name, args: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments ?? {}),
    isComplete: true, messageId: call.message_id ?? null, output: isDone ? call.output : null, isError: ["error", "failed"].includes(call.status),
    elapsedMs: call.elapsed_ms ?? null, phase: isDone ? "done" : call.status === "running" ? "running" : "ready",
  };
}
