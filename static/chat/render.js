// The view → the conversation's nodes. Keyed by round and item: what did not
// change is not touched, so folds, selections and scroll positions stay.

import { ApprovalCard } from "./approvals.js";
import { attachedChips } from "./attachments.js";
import { button, h, icon, spinner } from "./dom.js";
import { gettext, interpolate } from "./i18n.js";
import { sourceList } from "./citations.js";
import { declinedNote, planList } from "./plan.js";
import { Prose } from "./prose.js";
import { roundEnd } from "./roundend.js";
import { clock, longDay } from "./times.js";
import { toolCard, updateToolCard } from "./toolcard.js";

export class Thread {
  #rounds = new Map();
  #outbox = null;

  // context: {prompt(device), isSimulated(), onAct(name, detail)}
  constructor(column, context) {
    this.column = column;
    this.context = context;
  }

  clear(...placeholder) {
    this.#rounds.clear();
    this.#outbox = null;
    this.column.replaceChildren(...placeholder);
  }

  // What a button in an answer may point to.
  citationsAt(node) {
    for (const part of this.#rounds.values()) {
      for (const { node: hop, item } of part.hops.values()) {
        if (item?.kind === "text" && hop.contains(node)) return [...item.citations, ...(item.declined?.nearest ?? [])];
      }
    }
    return [];
  }

  render(view, outbox) {
    if (this.#rounds.size === 0) this.column.replaceChildren();
    const kept = new Set(view.rounds.map((round) => round.round));
    for (const [number, part] of this.#rounds) {
      if (kept.has(number)) continue;
      part.section.remove();
      this.#rounds.delete(number);
    }
    let day = "";
    let previous = null;
    for (const round of view.rounds) {
      let part = this.#rounds.get(round.round);
      if (!part) {
        part = newPart(round);
        this.#rounds.set(round.round, part);
      }
      const after = previous ? previous.nextSibling : this.column.firstChild;
      if (part.section !== after) this.column.insertBefore(part.section, after);
      previous = part.section;
      const today = longDay(round.ask?.at);
      const label = today && today !== day ? today : "";
      if (today) day = today;
      if (part.round !== round || part.day !== label) this.#update(part, round, label);
    }
    this.#renderOutbox(outbox);
  }

  #update(part, round, day) {
    if (part.day !== day || !part.dayNode) {
      part.dayNode?.remove();
      part.dayNode = h("p", { class: "day" }, day);
      if (day) part.section.prepend(part.dayNode);
      part.day = day;
    }
    if (part.ask !== round.ask || part.status !== round.status) {
      part.askNode.replaceChildren(...askNodes(round, this.context));
      part.askNode.classList.toggle("ask--queued", round.status === "pending");
    }
    part.ask = round.ask;
    part.status = round.status;
    part.round = round;
    this.#updateItems(part, round);
  }

  #updateItems(part, round) {
    const kept = new Set(round.items.map((item) => item.id));
    for (const [id, hop] of part.hops) {
      if (kept.has(id)) continue;
      hop.node.remove();
      part.hops.delete(id);
    }
    round.items.forEach((item, index) => {
      const isLast = index === round.items.length - 1;
      let hop = part.hops.get(item.id);
      if (!hop) {
        hop = { node: h("li", { class: "hop" }), item: null, isLast: null };
        part.hops.set(item.id, hop);
      }
      if (part.list.children[index] !== hop.node) part.list.insertBefore(hop.node, part.list.children[index] ?? null);
      if (hop.item !== item || hop.isLast !== isLast) renderers[item.kind](hop, item, isLast, this.context);
      hop.item = item;
      hop.isLast = isLast;
    });
    const end = roundEnd(round, this.context);
    if (!end) part.end?.remove();
    else if (!part.end?.isConnected) part.list.append(end);
    else if (part.end.isEqualNode(end)) return;
    else part.end.replaceWith(end);
    part.end = end;
  }

  #renderOutbox(outbox) {
    if (outbox === this.#outbox) return;
    this.column.querySelector("#outbox")?.remove();
    this.#outbox = outbox;
    if (!outbox) return;
    const note = outbox.state === "sending"
      ? h("span", { class: "ask__meta" }, spinner(), gettext("Sending"))
      : h("div", { class: "note note--bad", role: "alert" }, icon("alert"), h("div", { class: "note__body" },
        h("h3", { class: "note__title" }, gettext("Not sent")), h("p", {}, outbox.error),
        h("div", { class: "note__acts" },
          button("", { onclick: () => this.context.onAct("resend") }, icon("retry"), gettext("Retry")),
          button(gettext("Back to the field"), { class: "btn btn--quiet", onclick: () => this.context.onAct("take-back") }))));
    this.column.append(h("section", { class: "run", id: "outbox", "aria-label": gettext("Message not sent yet") },
      h("div", { class: "ask ask--queued" }, h("p", { class: "ask__text", dir: "auto" }, outbox.text), note)));
  }
}

function newPart(round) {
  const askNode = h("div", { class: "ask" });
  const list = h("ol", { class: "hops" });
  const section = h("section", { class: "run", "aria-label": interpolate(gettext("Round %(number)s"), { number: round.round }) }, askNode, list);
  return { section, askNode, list, hops: new Map(), end: null, round: null, ask: undefined, status: null, day: null, dayNode: null };
}

function askNodes(round, context) {
  if (!round.ask) return [];
  const text = h("p", { class: "ask__text", dir: "auto" }, round.ask.text);
  const files = round.ask.documents?.length ? [attachedChips(round.ask.documents, context.documentUrl)] : [];
  if (round.status === "pending") return [text, ...files, h("span", { class: "ask__meta" }, icon("clock", "icon--sm"), gettext("Sent when this answer ends"))];
  const at = clock(round.ask.at);
  return [text, ...files, ...(at ? [h("time", { class: "ask__meta num", datetime: round.ask.at }, at)] : [])];
}

const mark = (...children) => h("span", { class: "hop__mark" }, ...children);

const renderers = {
  text(hop, item, isAnswer) {
    hop.node.className = `hop hop--text${isAnswer ? " hop--answer" : ""}`;
    if (!hop.prose) {
      hop.prose = new Prose();
      hop.think = h("div", { class: "think__frame" });
      hop.node.replaceChildren(mark(icon("hop")), h("article", {}, hop.think, hop.prose.node));
    }
    if (item.reasoning !== hop.item?.reasoning) reasoning(hop, item);
    if (item.text !== hop.item?.text || item.isDone !== hop.item?.isDone || item.citations !== hop.item?.citations) {
      hop.prose.update(item.declined ? "" : item.text, item.isDone, item.citations);
      const below = item.declined ? declinedNote(item) : item.isDone ? sourceList(item.citations) : null;
      hop.below?.remove();
      hop.below = below;
      if (below) hop.prose.node.after(below);
    }
  },
  plan(hop, item) {
    const isBusy = item.steps.some((step) => step.state === "running" || step.state === "waiting");
    hop.node.className = `hop hop--text${isBusy ? " is-running" : ""}`;
    hop.node.replaceChildren(mark(icon("list")), h("div", {}, ...planList(item.steps)));
  },
  tool(hop, item, _isLast, context) {
    hop.card ??= toolCard();
    const { className, markNode } = updateToolCard(hop.card, item, context);
    hop.node.className = `hop ${className}`.trim();
    if (!hop.node.firstChild) hop.node.append(mark(markNode), hop.card.node);
    else hop.node.firstChild.replaceChildren(markNode);
  },
  approval(hop, item, _isLast, context) {
    const isOpen = item.approval.status === "waiting";
    hop.node.className = `hop${isOpen ? " is-waiting" : ""}`;
    hop.card ??= new ApprovalCard(context);
    hop.card.update(item);
    const sign = mark(icon(isOpen ? "hand" : item.approval.status === "approved" ? "check" : "stop"));
    if (hop.node.firstChild) hop.node.firstChild.replaceWith(sign);
    else hop.node.append(sign, hop.card.node);
  },
};

function reasoning(hop, item) {
  const fold = hop.think.querySelector("details");
  if (!item.reasoning) return hop.think.replaceChildren();
  if (fold) fold.querySelector("p").textContent = item.reasoning;
  else hop.think.replaceChildren(h("details", { class: "think" }, h("summary", {}, gettext("Thinking"), icon("right", "icon--sm icon--dir tool__chev")), h("p", { dir: "auto" }, item.reasoning)));
  return undefined;
}
