// One tool call as a card: a line when folded, arguments and output when open.

import { dataTable } from "./datatable.js";
import { h, icon, spinner } from "./dom.js";
import { gettext } from "./i18n.js";
import { plainResult, terminals } from "./terminal.js";
import { duration } from "./times.js";
import { devicesOf, failedDevices, parseJson, summarise, toolLabel } from "./tools.js";

const MAX_CHIPS = 4;

export function toolCard() {
  const head = h("summary", { class: "tool__head" });
  const body = h("div", { class: "tool__body" });
  const node = h("details", { class: "tool" }, head, body);
  const card = { node, head, body, isTouched: false, item: null };
  head.addEventListener("click", () => {
    card.isTouched = true;
  });
  return card;
}

export function updateToolCard(card, item, context) {
  const { summary, isBad } = summarise(item);
  const [iconName, label] = toolLabel(item.name);
  card.node.classList.toggle("tool--bad", isBad);
  card.head.replaceChildren(
    icon(iconName), h("span", { class: "tool__name" }, label), ...chips(item),
    h("span", { class: "tool__sum cut", dir: "auto", title: summary }, summary),
    h("span", { class: "tool__stat num", dir: "auto" }, duration(item.elapsedMs)),
    icon("right", "icon--sm icon--dir tool__chev"));
  card.body.replaceChildren(...bodyOf(item, context));
  // Open while it is written or at work, folded when done; a person's choice stays.
  if (!card.isTouched) card.node.open = item.phase === "writing" || item.phase === "running";
  card.item = item;
  return { className: hopClass(item, isBad), markNode: markOf(item, isBad) };
}

function hopClass(item, isBad) {
  if (isBad) return "is-failed";
  return item.phase === "running" ? "is-running" : "";
}

function markOf(item, isBad) {
  if (isBad) return icon("x");
  if (item.phase === "done") return icon("check");
  if (item.phase === "abandoned") return icon("stop");
  if (item.phase === "ready") return icon("clock");
  return spinner(item.phase === "writing" ? gettext("being written") : gettext("running"));
}

function chips(item) {
  const failed = item.phase === "done" ? failedDevices(item) : new Set();
  const names = devicesOf(item);
  const shown = names.slice(0, MAX_CHIPS).map((name) => chip(name, item.phase, failed.has(name)));
  if (names.length > MAX_CHIPS) shown.push(h("span", { class: "chip" }, `+${names.length - MAX_CHIPS}`));
  return shown;
}

function chip(name, phase, hasFailed) {
  const label = h("span", { class: "chip__name", dir: "auto", title: name }, name);
  if (hasFailed) return h("span", { class: "chip is-failed" }, label, h("span", { class: "sr" }, " ", gettext("failed")));
  if (phase === "running") return h("span", { class: "chip is-working" }, spinner(), label);
  return h("span", { class: "chip" }, phase === "done" ? icon("check") : null, label);
}

function bodyOf(item, context) {
  const parts = [];
  const isEmpty = !item.args || item.args.trim() === "{}";
  const ink = item.phase === "done" ? dataTable(item) ?? terminals(item, context.prompt) : null;
  if (!isEmpty && !(ink && !item.isError)) parts.push(args(item));
  if (item.phase === "running") parts.push(h("p", { class: "tool__note row" }, spinner(), gettext("Waiting for the result")));
  if (item.phase === "abandoned") parts.push(h("p", { class: "tool__note" }, gettext("The run ended before a result came.")));
  if (item.phase !== "done") return parts;
  if (ink) parts.push(...ink);
  else if (item.isError && !parseJson(item.output ?? "")) parts.push(h("p", { class: "tool__note", dir: "auto" }, item.output || gettext("It failed without a reason.")));
  else parts.push(plainResult(item));
  return parts;
}

function args(item) {
  const box = h("div", { class: "args", tabindex: "0", role: "region", "aria-label": gettext("Arguments") }, item.args);
  if (item.phase === "writing") box.append(h("span", { class: "caret" }));
  return box;
}
