// The card of a chosen device, or of the lab when none is chosen.

import { button, h, icon, iconButton, spinner } from "./dom.js";
import { gettext, interpolate } from "./i18n.js";
import { clock } from "./times.js";
import { devicesOf, parseJson } from "./tools.js";

const KINDS = { vpcs: ["d-pc", "VPCS"], dynamips: ["d-router", gettext("Dynamips router")], iou: ["d-router", "IOU"], ethernet_switch: ["d-switch", gettext("Ethernet switch")], ethernet_hub: ["d-hub", gettext("Ethernet hub")], cloud: ["d-cloud", gettext("Cloud")], nat: ["d-cloud", "NAT"], qemu: ["d-server", "QEMU"], docker: ["d-server", "Docker"] };
// As GNS3 calls them.
const STATES = { started: gettext("started"), stopped: gettext("stopped"), suspended: gettext("suspended") };
const SHOWN_COMMANDS = 8;

const kindOf = (node) => KINDS[node.node_type]?.[1] ?? node.node_type;
export const stateOf = (node) => STATES[node.status] ?? node.status;

export function deviceCard({ node, topology, view, isWorking, canAsk, onAsk, onClose }) {
  const [symbol] = KINDS[node.node_type] ?? ["d-server"];
  const isUp = node.status === "started";
  const state = isWorking
    ? h("span", { class: "badge badge--accent" }, spinner(), gettext("Working"))
    : h("span", { class: "row" }, h("span", { class: isUp ? "dot dot--up" : "dot dot--down" }), stateOf(node));
  return h("section", { class: "dev", "aria-labelledby": "device-name" },
    h("header", { class: "dev__head" },
      icon(symbol, "dev__sym"),
      h("div", { class: "grow" }, h("h3", { class: "dev__name cut", id: "device-name", dir: "auto" }, node.name), h("p", { class: "faint cut" }, [kindOf(node), consoleWords(node)].join(" · "))),
      state, iconButton("x", interpolate(gettext("Close %(name)s"), { name: node.name }), { onclick: onClose })),
    canAsk ? h("div", { class: "row" }, button("", { class: "btn btn--sm", onclick: () => onAsk(node.name) }, icon("ask"), h("span", { class: "cut" }, interpolate(gettext("Ask about %(name)s"), { name: node.name })))) : null,
    ports(node, topology), commands(node, view));
}

function consoleWords(node) {
  if (!node.console_type || node.console_type === "none") return gettext("no console");
  return interpolate(gettext("%(kind)s console"), { kind: node.console_type });
}

function ports(node, topology) {
  const rows = portRows(node, topology);
  if (!rows.length) return h("p", { class: "soft" }, gettext("No ports."));
  return h("div", {}, h("h4", { class: "sec__title" }, gettext("Ports")),
    h("div", { class: "tablewrap" }, h("table", { class: "table" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, gettext("Port")), h("th", { scope: "col" }, gettext("To")))),
      h("tbody", {}, ...rows.map((row) => h("tr", {}, h("td", { class: "mono" }, row.port), h("td", { dir: "auto" }, row.to, row.isSuspended ? h("span", { class: "badge" }, gettext("suspended")) : null)))))));
}

function portRows(node, topology) {
  const names = new Map(topology.nodes.map((other) => [other.node_id, other.name]));
  const linked = new Map();
  for (const link of topology.links) {
    const mine = link.ends.find((end) => end.node_id === node.node_id);
    const other = link.ends.find((end) => end !== mine);
    if (mine && other) linked.set(mine.port, { port: mine.port, to: `${names.get(other.node_id) ?? "?"} ${other.port ?? ""}`.trim(), isSuspended: link.is_suspended });
  }
  const free = node.ports.map((port) => (typeof port === "string" ? [port, port] : [port.name, port.short_name])).filter(([name, short]) => !linked.has(name) && !linked.has(short));
  const shownFree = free.slice(0, Math.max(0, 8 - linked.size)).map(([name]) => ({ port: name, to: "–" }));
  const rest = free.length - shownFree.length;
  return [...linked.values(), ...shownFree, ...(rest ? [{ port: interpolate(gettext("%(count)s more"), { count: rest }), to: gettext("free") }] : [])];
}

function commands(node, view) {
  const rows = view.rounds.flatMap((round) => round.items).filter((item) => item.kind === "tool" && devicesOf(item).includes(node.name)).flatMap((item) => commandRows(item, node.name));
  if (!rows.length) return null;
  return h("div", {}, h("h4", { class: "sec__title" }, gettext("Commands in this conversation"), h("span", { class: "num" }, String(rows.length))),
    h("ul", { class: "cmds" }, ...rows.slice(-SHOWN_COMMANDS).reverse().map((row) => h("li", {}, row.mark, h("span", { class: "mono cut", title: row.command }, row.command), h("span", { class: "faint num" }, row.at)))));
}

function commandRows(item, name) {
  const entry = parseJson(item.args)?.devices?.find?.((candidate) => candidate?.device === name);
  const failed = parseJson(item.output ?? "")?.devices?.find?.((candidate) => candidate?.device === name)?.status === "failed" || item.isError;
  const mark = () => (item.phase === "done" ? icon(failed ? "x" : "check", "icon--sm") : item.phase === "running" ? spinner(gettext("running")) : icon("clock", "icon--sm"));
  return (Array.isArray(entry?.commands) ? entry.commands : []).map((command) => ({ command: String(command), mark: mark(), at: clock(item.endedAt ?? item.startedAt) }));
}
