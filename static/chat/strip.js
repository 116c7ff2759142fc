// "Connection lost" after 2 s without one, then "Back" for 3 s.

import { button, h, icon } from "./dom.js";
import { gettext, interpolate } from "./i18n.js";

const PATIENCE = 2000;
const BACK_TIME = 3000;

export class Strip {
  #lostTimer = null;
  #tick = null;
  #isShown = false;
  #retryAt = 0;

  constructor(box, onRetry) {
    this.box = box;
    this.onRetry = onRetry;
  }

  update(connection) {
    if (connection.state === "lost") this.#lose(connection.retryAt);
    else this.#return(connection.state === "open");
  }

  reset() {
    this.#return(false);
    this.box.replaceChildren();
  }

  #lose(retryAt) {
    this.#retryAt = retryAt;
    if (this.#isShown) return this.#write();
    this.#lostTimer ??= setTimeout(() => {
      this.#isShown = true;
      this.#write();
      this.#tick = setInterval(() => this.#write(), 1000);
    }, PATIENCE);
    return undefined;
  }

  #write() {
    const seconds = Math.ceil((this.#retryAt - Date.now()) / 1000);
    const words = seconds > 0 ? interpolate(gettext("Connection lost. Trying again in %(seconds)s s."), { seconds }) : gettext("Connection lost. Trying again.");
    const text = this.box.querySelector(".strip__text");
    if (text) text.textContent = words;
    else this.box.replaceChildren(h("div", { class: "strip" }, icon("offline", "icon--sm"), h("span", { class: "strip__text" }, words), button(gettext("Try now"), { class: "btn btn--sm", onclick: this.onRetry })));
  }

  #return(isBack) {
    clearTimeout(this.#lostTimer);
    clearInterval(this.#tick);
    this.#lostTimer = null;
    if (!this.#isShown) return;
    this.#isShown = false;
    if (!isBack) return void this.box.replaceChildren();
    const strip = h("p", { class: "strip strip--ok" }, icon("check", "icon--sm"), h("span", {}, gettext("Back. Nothing was lost.")));
    this.box.replaceChildren(strip);
    setTimeout(() => strip.remove(), BACK_TIME);
  }
}
