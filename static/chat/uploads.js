// Files on their way to the server: chosen, dropped or pasted; with progress.

import { ApiError, csrfToken } from "./api.js";
import { gettext, interpolate } from "./i18n.js";
import { count, decimal } from "./times.js";

const UNITS = ["B", "KB", "MB", "GB"];

export function sizeWords(bytes) {
  let [size, unit] = [bytes, 0];
  for (; size >= 1024 && unit < UNITS.length - 1; unit += 1) size /= 1024;
  return `${size < 10 && unit ? decimal(size) : count(Math.round(size))} ${UNITS[unit]}`;
}

export function tooLarge(file, limit) {
  if (!limit || file.size <= limit) return "";
  return interpolate(gettext("%(name)s is larger than %(size)s"), { name: file.name, size: sizeWords(limit) });
}

// fetch tells nothing of what has been sent so far.
export function upload(url, file, { method = "POST", onProgress = () => {}, signal } = {}) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const body = new FormData();
    body.append("file", file, file.name);
    request.open(method, url);
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("X-CSRFToken", csrfToken());
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) onProgress(event.loaded / event.total);
    });
    request.addEventListener("load", () => {
      const answer = parsed(request.responseText);
      if (request.status < 300 && answer) resolve(answer);
      else reject(new ApiError(request.status, answer?.code ?? "", answer?.message || interpolate(gettext("The server answered %(status)s."), { status: request.status })));
    });
    request.addEventListener("error", () => reject(new ApiError(0, "unreachable", gettext("The server does not answer."))));
    request.addEventListener("abort", () => reject(new ApiError(0, "aborted", "")));
    signal?.addEventListener("abort", () => request.abort());
    request.send(body);
  });
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// Drag and drop over `area`, and files that are pasted there.
export function takeFiles(area, onFiles) {
  const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  for (const type of ["dragenter", "dragover"]) {
    area.addEventListener(type, (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      area.classList.add("is-over");
    });
  }
  area.addEventListener("dragleave", (event) => {
    if (!area.contains(event.relatedTarget)) area.classList.remove("is-over");
  });
  area.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    area.classList.remove("is-over");
    onFiles([...event.dataTransfer.files]);
  });
  area.addEventListener("paste", (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (!files.length) return;
    event.preventDefault();
    onFiles(files);
  });
}

// Reads `load` again and again while `isBusy` says so; slower the longer it takes.
export class Poll {
  #timer = 0;
  #wait = 0;

  constructor(load, isBusy) {
    Object.assign(this, { load, isBusy });
  }

  start() {
    clearTimeout(this.#timer);
    this.#wait = 500;
    this.#next();
  }

  stop() {
    clearTimeout(this.#timer);
  }

  #next() {
    this.#timer = setTimeout(async () => {
      // A lost answer is asked for again.
      await this.load().catch(() => {});
      this.#wait = Math.min(this.#wait * 1.3, 3000);
      if (this.isBusy()) this.#next();
    }, this.#wait);
  }
}
