// REST calls: CSRF, one error type with the server's own words, safe repetition.

import { gettext, interpolate } from "./i18n.js";

const NO_ANSWER = gettext("The server does not answer. Check the connection and try again.");

export class ApiError extends Error {
  constructor(status, code, message, errors = []) {
    super(message);
    this.status = status;
    this.code = code;
    // Which fields are wrong, where the server says so.
    this.errors = errors;
  }
}

export function csrfToken() {
  const cookie = document.cookie.split("; ").find((part) => part.startsWith("csrftoken="));
  if (cookie) return decodeURIComponent(cookie.slice("csrftoken=".length));
  return document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";
}

async function toError(response) {
  let body = null;
  try {
    body = await response.json();
  } catch {
    // A proxy's HTML page or nothing at all: the status has to do.
  }
  const message = body?.message ?? (typeof body?.detail === "string" ? body.detail : "");
  return new ApiError(response.status, body?.code ?? `http_${response.status}`, message || interpolate(gettext("The server answered %(status)s."), { status: response.status }), body?.errors);
}

export class Api {
  constructor({ root, loginUrl }) {
    this.root = root;
    this.loginUrl = loginUrl;
  }

  url(path) {
    return `${this.root}${path}`;
  }

  async request(method, path, { body, headers = {}, signal, timeout = 30_000 } = {}) {
    const init = { method, credentials: "same-origin", headers: { Accept: "application/json", ...headers } };
    if (method !== "GET") init.headers["X-CSRFToken"] = csrfToken();
    if (body !== undefined) {
      init.headers["Content-Type"] = "application/json";
      init.body = JSON.stringify(body);
    }
    const limits = [signal, timeout && AbortSignal.timeout(timeout)].filter(Boolean);
    if (limits.length) init.signal = AbortSignal.any(limits);
    let response;
    try {
      response = await fetch(this.url(path), init);
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ApiError(0, "unreachable", NO_ANSWER);
    }
    if (response.ok) return response;
    const error = await toError(response);
    if (error.status === 401 || error.code === "not_authenticated") this.signIn();
    throw error;
  }

  async json(method, path, options) {
    const response = await this.request(method, path, options);
    return response.status === 204 ? null : response.json();
  }

  get(path, options) {
    return this.json("GET", path, options);
  }

  // The key makes a repeated POST one message, so a lost answer may be asked for again.
  async postOnce(path, body, { key, headers = {} }) {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.json("POST", path, { body, headers: { ...headers, "Idempotency-Key": key } });
      } catch (error) {
        if (error.status !== 0 || attempt === 2) throw error;
        await new Promise((resolve) => setTimeout(resolve, 400 * 3 ** attempt));
      }
    }
  }

  signIn() {
    const back = encodeURIComponent(location.pathname + location.search);
    location.assign(`${this.loginUrl}?next=${back}`);
  }
}
