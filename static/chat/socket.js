// Follows one session: WebSocket first, server-sent events where sockets fail.
// Reconnects from the cursor with exponential backoff; who listens drops doubles.

import { readEvents } from "./stream.js";

const PING_EVERY = 20_000;
const SILENCE_LIMIT = 45_000;
const WAITS = [500, 1000, 2000, 4000, 8000, 15_000];

export class Follower {
  #socket = null;
  #abort = null;
  #timer = null;
  #pinger = null;
  #lost = 0;
  #neverOpened = 0;
  #isStopped = true;
  #lastFrame = 0;

  // onState gets {state: "open" | "lost" | "idle" | "denied", retryAt?, code?}
  constructor({ api, path, cursor, onEvent, onState }) {
    Object.assign(this, { api, path, cursor, onEvent, onState });
  }

  start() {
    this.#isStopped = false;
    this.#connect();
  }

  stop() {
    this.#isStopped = true;
    this.#drop();
  }

  // Connects again at once, from the cursor.
  retry() {
    if (this.#isStopped) return;
    this.#drop();
    this.#connect();
  }

  #drop() {
    clearTimeout(this.#timer);
    clearInterval(this.#pinger);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close(1000);
    this.#abort?.abort();
    this.#abort = null;
  }

  #connect() {
    if (this.#neverOpened >= 2) this.#listen();
    else this.#open();
  }

  #open() {
    const url = new URL(this.api.url(`ws/${this.path}`), location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    const after = this.cursor();
    if (after) url.searchParams.set("after", after);
    const socket = new WebSocket(url);
    let hasOpened = false;
    this.#socket = socket;
    socket.onopen = () => {
      hasOpened = true;
      this.#neverOpened = 0;
      this.#isBack();
      this.#watch(socket);
    };
    socket.onmessage = (frame) => {
      if (socket !== this.#socket) return;
      this.#take(frame.data);
    };
    socket.onclose = (close) => {
      if (socket !== this.#socket) return;
      this.#drop();
      if (!hasOpened) this.#neverOpened += 1;
      if (close.code >= 4400 && close.code < 4500) this.onState({ state: "denied", code: close.code });
      else if (close.code === 1000) this.onState({ state: "idle" });
      else this.#again();
    };
  }

  // A half-open connection says nothing: ask, and give up when no answer comes.
  #watch(socket) {
    this.#lastFrame = Date.now();
    this.#pinger = setInterval(() => {
      if (Date.now() - this.#lastFrame > SILENCE_LIMIT) {
        this.#drop();
        this.#again();
      } else socket.send('{"type":"ping"}');
    }, PING_EVERY);
  }

  async #listen() {
    const abort = new AbortController();
    this.#abort = abort;
    const after = this.cursor();
    const query = after ? `?after=${encodeURIComponent(after)}` : "";
    try {
      const response = await this.api.request("GET", `${this.path}/events${query}`, {
        headers: { Accept: "text/event-stream" },
        signal: abort.signal,
        timeout: 0,
      });
      this.#isBack();
      if (response.status !== 204) await readEvents(response, (data) => this.#take(data));
      if (abort.signal.aborted) return;
      if (response.status === 204) this.onState({ state: "idle" });
      else this.#timer = setTimeout(() => this.#connect(), 300);
    } catch (error) {
      if (abort.signal.aborted) return;
      if (error.status >= 400 && error.status < 500 && error.status !== 429) this.onState({ state: "denied", code: 4000 + error.status });
      else this.#again();
    }
  }

  #take(data) {
    this.#lastFrame = Date.now();
    this.#lost = 0;
    let event;
    try {
      event = JSON.parse(data);
    } catch {
      return;
    }
    if (event.type !== "heartbeat" && event.type !== "pong") this.onEvent(event);
  }

  #isBack() {
    this.onState({ state: "open" });
  }

  #again() {
    if (this.#isStopped) return;
    const wait = WAITS[Math.min(this.#lost, WAITS.length - 1)] * (0.8 + Math.random() * 0.4);
    this.#lost += 1;
    this.onState({ state: "lost", retryAt: Date.now() + wait });
    this.#timer = setTimeout(() => this.#connect(), wait);
  }
}
