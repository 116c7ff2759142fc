// One session: its view, what is being sent, and the follower that feeds it.
// It belongs to its session whatever the page shows meanwhile.

import { ApiError } from "./api.js";
import { randomId } from "./dom.js";
import { activeRound, emptyView, fromHistory, isActive, reduce, withApprovals, withRound, withStale } from "./reduce.js";
import { Follower } from "./socket.js";

const PAGE_SIZE = 100;
const CHANGES_DEVICES = new Set(["create_links", "start_nodes", "stop_nodes", "run_commands"]);
const EVENT_PATIENCE = 1500;

export class Conversation {
  view = emptyView();
  outbox = null; // {text, key, state: "sending" | "failed", error}
  problem = null; // {code, text, question}: needs a step before sending again
  connection = { state: "idle" };
  isLoaded = false;
  hasEarlier = false;
  #messages = [];
  #runs = [];
  #follower = null;
  #isShown = false;
  #beginning = null;

  constructor({ api, projectId, sessionId, onChange, onCreated }) {
    Object.assign(this, { api, projectId, sessionId, onChange, onCreated });
    this.isLoaded = sessionId === null;
  }

  get path() {
    return `v3/projects/${this.projectId}/chat/sessions/${this.sessionId}`;
  }

  get active() {
    return activeRound(this.view);
  }

  async show() {
    this.#isShown = true;
    if (this.sessionId === null) return;
    // In this order: a run that the session no longer shows is complete in its history.
    const session = await this.api.get(this.path);
    const [history, runs] = await Promise.all([this.api.get(`${this.path}/history?limit=${PAGE_SIZE}`), this.api.get(`${this.path}/runs`)]);
    if (!this.#isShown) return;
    this.#messages = history.messages;
    this.#runs = runs;
    this.hasEarlier = history.messages.length === PAGE_SIZE;
    this.view = { ...fromHistory(this.#messages, this.#runs, session.active_run), title: session.title };
    this.view.cursor = this.#firstCursor();
    this.isLoaded = true;
    this.onChange(this);
    this.#follow();
    await this.#loadDecisions();
  }

  // Of finished rounds: they are no messages. Those of the active one are replayed.
  async #loadDecisions() {
    if (!this.view.rounds.some((round) => round.items.some((item) => item.kind === "tool"))) return;
    const approvals = await this.api.get(`${this.path}/approvals`).catch(() => []);
    for (const round of this.view.rounds) {
      const mine = approvals.filter((approval) => approval.run_id === round.runId).reverse();
      if (mine.length && !isActive(round)) this.view = withRound(this.view, round.round, (found) => withApprovals(found, mine));
    }
    if (approvals.length) this.onChange(this);
  }

  // `decisions` null: approve all that wait in the round. Raises ApiError.
  async decide(number, decisions) {
    const round = this.view.rounds.find((candidate) => candidate.round === number);
    const open = round.items.filter((item) => item.kind === "approval" && item.approval.status === "waiting");
    const body = { decisions: decisions ?? open.map((item) => ({ approval_id: item.id, decision: "approve" })) };
    const { approvals } = await this.api.json("POST", `v3/projects/${this.projectId}/chat/runs/${round.runId}/approvals`, { body });
    // Its event says the same to all; whoever decided need not wait for it.
    this.view = withRound(this.view, number, (found) => withApprovals(found, approvals));
    this.onChange(this);
  }

  // The start of the active round, or the end of the last one.
  #firstCursor() {
    if (this.active) return `${this.active.round}.0`;
    const last = this.view.rounds.at(-1);
    return last ? `${last.round}.${999999999}` : null;
  }

  hide() {
    this.#isShown = false;
    this.#follower?.stop();
    this.#follower = null;
  }

  async loadEarlier() {
    const oldest = this.#messages[0];
    const history = await this.api.get(`${this.path}/history?limit=${PAGE_SIZE}&before=${encodeURIComponent(oldest.id)}`);
    this.hasEarlier = history.messages.length === PAGE_SIZE;
    this.#messages = [...history.messages, ...this.#messages];
    const live = new Map(this.view.rounds.filter((round) => round.seq !== Infinity).map((round) => [round.round, round]));
    const stored = fromHistory(this.#messages, this.#runs).rounds.filter((round) => !live.has(round.round));
    this.view = { ...this.view, rounds: [...stored, ...live.values()].sort((a, b) => a.round - b.round) };
    this.onChange(this);
  }

  #follow() {
    this.#follower ??= new Follower({
      api: this.api,
      path: this.path,
      cursor: () => this.view.cursor,
      onEvent: (event) => this.#take(event),
      onState: (state) => {
        this.connection = state;
        // A feed of one run has ended; another waits in line.
        if (state.state === "idle" && this.view.rounds.some(isActive)) setTimeout(() => this.reconnect(), EVENT_PATIENCE);
        this.onChange(this);
      },
    });
    this.#follower.start();
  }

  #take(event) {
    if (event.session_id && event.session_id !== this.sessionId) return;
    if (event.type === "error" && event.seq === undefined) {
      this.problem = { code: event.code ?? "", text: event.error, question: "" };
      this.onChange(this);
      return;
    }
    const before = this.view;
    // Made beside the answer, a title may come when the run's own log is closed.
    if (event.type === "title" && event.seq === undefined) this.view = { ...this.view, title: event.title };
    this.view = reduce(this.view, event);
    if (this.view !== before) this.onChange(this, event);
    if (event.type === "done") this.#markStale(event.round).catch(() => {}); // The next load tells.
  }

  // A run that changed devices overtakes what was read of them before.
  async #markStale(number) {
    const round = this.view.rounds.find((candidate) => candidate.round === number);
    const mayHaveChanged = round?.items.some((item) => item.kind === "tool" && CHANGES_DEVICES.has(item.name));
    const citesDevices = this.view.rounds.some((each) => each.items.some((item) => item.kind === "text" && item.citations.some((one) => one.kind === "device")));
    if (!mayHaveChanged || !citesDevices) return;
    const { messages } = await this.api.get(`${this.path}/history?limit=${PAGE_SIZE}`);
    const fresh = new Map(messages.map((message) => [message.id, message]));
    this.#messages = this.#messages.map((message) => fresh.get(message.id) ?? message);
    this.view = withStale(this.view, messages);
    this.onChange(this);
  }

  reconnect() {
    this.#follower?.retry();
  }

  // wanted: what the message asks for besides: {profile?, temperature?, max_tokens?}
  async send(text, { queue = false, wanted = {} } = {}) {
    await this.#post({ text, wanted, key: randomId(), state: "sending", error: "" }, queue);
  }

  // A conversation that has none yet gets its id before its first message.
  async begin() {
    if (this.sessionId !== null) return;
    this.#beginning ??= this.api.json("POST", `v3/projects/${this.projectId}/chat/sessions`, { body: {} });
    try {
      const { thread_id: id } = await this.#beginning;
      if (this.sessionId !== null) return;
      this.sessionId = id;
      this.onCreated(this);
    } finally {
      this.#beginning = null;
    }
  }

  async resend() {
    await this.#post({ ...this.outbox, state: "sending", error: "" }, false);
  }

  // The outbox' text, to be edited again.
  takeBack() {
    const text = this.outbox?.text ?? "";
    this.outbox = null;
    this.onChange(this);
    return text;
  }

  async #post(outbox, queue) {
    this.outbox = outbox;
    this.problem = null;
    this.onChange(this);
    const body = { message: outbox.text, stream: true, mode: "text", ...outbox.wanted };
    if (this.sessionId !== null) body.session_id = this.sessionId;
    if (queue || this.active) body.multitask_strategy = "enqueue";
    try {
      const accepted = await this.api.postOnce(`v3/projects/${this.projectId}/chat/stream`, body, { key: outbox.key, headers: { Prefer: "respond-async" } });
      this.#accepted(outbox, accepted);
    } catch (error) {
      this.#refused(outbox, error);
    }
    this.onChange(this);
  }

  #accepted(outbox, { session_id: sessionId, run_id: runId, round: number, status: accepted }) {
    this.outbox = null;
    const isWaiting = accepted === undefined ? Boolean(this.active && this.active.round !== number) : accepted === "pending";
    const ask = { id: null, text: outbox.text, at: new Date().toISOString() };
    this.view = withRound(this.view, number, (round) => ({
      ...round, runId, ask: round.ask ?? ask, status: round.seq > 0 ? round.status : isWaiting ? "pending" : "queued",
    }));
    if (this.sessionId === null) {
      this.sessionId = sessionId;
      this.onCreated(this);
    }
    if (!this.view.cursor) this.view.cursor = `${number}.0`;
    if (!this.#isShown) return;
    if (!this.#follower) this.#follow();
    else if (this.connection.state === "idle") this.reconnect();
    if (!isWaiting) this.#expectEvents(number);
  }

  // A feed that ended with the last run has to be opened again for the new one.
  #expectEvents(number) {
    setTimeout(() => {
      const round = this.view.rounds.find((candidate) => candidate.round === number);
      if (this.#isShown && round?.seq === 0 && this.connection.state !== "lost") this.reconnect();
    }, EVENT_PATIENCE);
  }

  #refused(outbox, error) {
    if (!(error instanceof ApiError)) throw error;
    const needsStep = error.status === 409 || ["llm_not_configured", "project_not_opened"].includes(error.code);
    if (needsStep) {
      this.outbox = null;
      const code = error.status === 409 && error.code !== "project_not_opened" ? "busy" : error.code;
      this.problem = { code, text: error.message, question: outbox.text };
    } else this.outbox = { ...outbox, state: "failed", error: error.message };
  }

  async stop() {
    if (!this.active || this.active.status === "stopping") return;
    const number = this.active.round;
    this.view = withRound(this.view, number, (round) => ({ ...round, status: "stopping" }));
    this.onChange(this);
    try {
      await this.api.json("POST", `${this.path}/stop`, { body: {} });
    } catch (error) {
      this.view = withRound(this.view, number, (round) => (round.status === "stopping" ? { ...round, status: "running" } : round));
      this.problem = { code: error.code, text: error.message, question: "" };
      this.onChange(this);
    }
  }
}
