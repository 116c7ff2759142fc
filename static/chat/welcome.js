// First screen of an empty conversation: who answers, and questions to begin with.

import { button, h } from "./dom.js";
import { gettext, interpolate } from "./i18n.js";
import { profileChoice } from "./profiles.js";

const QUESTIONS = 5;

export class Welcome {
  #node = h("div", { class: "hello" });
  #shown = "";

  // handlers: {onAsk(text), onProfile(profile)}
  constructor(handlers) {
    this.handlers = handlers;
  }

  // The same node while nothing has changed, so that the focus stays where it is.
  show({ profiles, profile, topology, isSimulated }) {
    const questions = questionsFor(profile, topology);
    const shown = JSON.stringify([profiles, profile?.name, questions, isSimulated]);
    if (shown === this.#shown) return this.#node;
    this.#shown = shown;
    const focused = this.#node.contains(document.activeElement) ? document.activeElement.value : null;
    this.#node.replaceChildren(
      h("div", {}, h("h2", { dir: "auto" }, profile?.greeting || gettext("Talk to your lab")),
        h("p", { class: "hello__lead" }, gettext("Copilot shows what its answers rest on, so you can check every one."))),
      ...(profiles.length > 1 ? [profileChoice(profiles, profile, this.handlers.onProfile)] : []),
      ...(questions.length ? [this.#questions(questions, isSimulated)] : []));
    if (focused) this.#node.querySelector(`input[value="${CSS.escape(focused)}"]`)?.focus();
    return this.#node;
  }

  #questions(questions, isSimulated) {
    const lead = isSimulated ? gettext("Try a question on the simulated lab") : gettext("Try a question");
    return h("div", { class: "stack" }, h("p", { class: "soft" }, lead),
      h("div", { class: "tries" }, ...questions.map((text) => button(text, { class: "btn try", dir: "auto", onclick: () => this.handlers.onAsk(text) }))));
  }
}

// Where the assistant looks into the lab, first those with the lab's own names.
function questionsFor(profile, topology) {
  const looks = !profile || profile.tools.includes("run_commands");
  return [...new Set([...(looks ? fromLab(topology) : []), ...(profile?.questions ?? [])])].slice(0, QUESTIONS);
}

function fromLab(topology) {
  const nodes = topology?.nodes ?? [];
  const pcs = nodes.filter((node) => node.node_type === "vpcs").map((node) => node.name).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const routers = nodes.filter((node) => ["dynamips", "iou"].includes(node.node_type)).map((node) => node.name);
  return [
    pcs.length >= 2 ? interpolate(gettext("Why can't %(a)s reach %(b)s?"), { a: pcs[0], b: pcs[1] }) : null,
    routers.length ? interpolate(gettext("Which routes does %(router)s have?"), { router: routers[0] }) : null,
    nodes.length ? gettext("What is wrong with this lab?") : null,
    topology && !nodes.length ? gettext("Add two PCs and a switch, and connect them.") : null,
  ].filter(Boolean);
}
