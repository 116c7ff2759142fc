// One line for screen readers and eyes: what the run does, at most one change in 1.5 s.

import { h, icon, spinner } from "./dom.js";
import { gettext, interpolate } from "./i18n.js";
import { devicesOf, summarise, toolLabel } from "./tools.js";

const PAUSE = 1500;

function words(round) {
  if (!round) return "";
  if (round.statusText) return round.statusText;
  if (round.status === "waiting_approval") return gettext("Waiting for a decision");
  if (round.status === "stopping") return gettext("Stopping");
  if (round.progressText) return round.progressText;
  const running = round.items.filter((item) => item.kind === "tool" && ["ready", "running"].includes(item.phase));
  if (running.length) {
    const [, label] = toolLabel(running[0].name);
    const devices = [...new Set(running.flatMap(devicesOf))].slice(0, 3).join(", ");
    if (!devices) return label;
    return interpolate(gettext("%(deed)s on %(devices)s: %(what)s"), { deed: label, devices, what: summarise(running[0]).summary });
  }
  const last = round.items.at(-1);
  if (last?.kind === "text" && last.text && !last.isDone) return gettext("Writing the answer");
  return round.status === "queued" ? gettext("Starting") : gettext("Thinking");
}

export class LiveLine {
  #shown = "";
  #next = "";
  #timer = null;
  #round = null;

  constructor(line) {
    this.line = line;
  }

  update(round) {
    const text = words(round);
    if (text === this.#next) return;
    this.#next = text;
    this.#round = round;
    // The first words and the end come at once; of what changes between, the newest.
    if (!this.#shown || !text) {
      clearTimeout(this.#timer);
      this.#timer = null;
      this.#write(text);
    } else {
      this.#timer ??= setTimeout(() => {
        this.#timer = null;
        this.#write(this.#next);
      }, PAUSE);
    }
  }

  #write(text) {
    this.#shown = text;
    const isWaiting = this.#round?.status === "waiting_approval";
    this.line.replaceChildren(...(text ? [isWaiting ? icon("hand", "icon--sm") : spinner(), h("span", { class: "cut" }, text)] : []));
  }
}
