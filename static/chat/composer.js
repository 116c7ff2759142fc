// The message field: draft, Enter sends, Send grey while empty, Stop beside it.

import { gettext } from "./i18n.js";
import { loadDraft, saveDraft } from "./drafts.js";

export class Composer {
  #place = { projectId: null, sessionId: null };
  #isBusy = false;
  #isActive = false;
  #isWaiting = false;

  constructor({ form, field, sendButton, stopButton, onSend, onStop }) {
    Object.assign(this, { field, sendButton, stopButton, onSend });
    field.addEventListener("input", () => this.#changed());
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#submit();
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    stopButton.addEventListener("click", onStop);
  }

  get text() {
    return this.field.value;
  }

  // Another conversation: its own draft.
  show(projectId, sessionId) {
    this.#place = { projectId, sessionId };
    this.field.value = loadDraft(projectId, sessionId);
    this.#changed();
  }

  // The new conversation got its id: the draft moves with it.
  moveTo(sessionId) {
    saveDraft(this.#place.projectId, this.#place.sessionId, "");
    this.#place = { ...this.#place, sessionId };
    this.#changed();
  }

  put(text) {
    this.field.value = text;
    this.#changed();
    this.field.focus();
    this.field.setSelectionRange(text.length, text.length);
  }

  update({ isActive, isStopping, isBusy, isClosed, isWaiting = false }) {
    this.#isBusy = isBusy || isClosed;
    this.#isActive = isActive;
    this.#isWaiting = isWaiting;
    this.stopButton.hidden = !isActive;
    this.stopButton.disabled = isStopping;
    this.field.disabled = isClosed;
    this.field.placeholder = isClosed ? gettext("The project is closed") : isWaiting ? gettext("A new message rejects the change above") : gettext("Ask about this lab");
    this.#buttons();
  }

  #buttons() {
    const label = this.#isWaiting ? gettext("Send, and reject the change") : this.#isActive ? gettext("Send when this answer ends") : gettext("Send");
    this.sendButton.setAttribute("aria-label", label);
    this.sendButton.title = label;
    this.sendButton.disabled = this.#isBusy || !this.field.value.trim();
  }

  #changed() {
    saveDraft(this.#place.projectId, this.#place.sessionId, this.field.value);
    this.#buttons();
  }

  #submit() {
    const text = this.field.value.trim();
    if (!text || this.#isBusy) return;
    this.field.value = "";
    this.#changed();
    this.onSend(text);
  }
}
