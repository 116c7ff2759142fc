// What a tool call says in one line: name, devices, the fact that matters.

import { gettext, interpolate, ngettext } from "./i18n.js";
import { count } from "./times.js";

const NAMES = {
  read_topology: ["nodes", gettext("Read topology")],
  list_templates: ["list", gettext("List templates")],
  create_nodes: ["new", gettext("Create devices")],
  create_links: ["link", gettext("Connect devices")],
  start_nodes: ["play", gettext("Start devices")],
  stop_nodes: ["stop", gettext("Stop devices")],
  run_commands: ["term", gettext("Run commands")],
  describe_data: ["list", gettext("Describe data")],
  query_data: ["list", gettext("Query data")],
  search_documents: ["search", gettext("Search documents")],
  lookup_faculty: ["list", gettext("Look up people")],
  lookup_courses: ["list", gettext("Look up courses")],
  lookup_facilities: ["list", gettext("Look up rooms")],
  lookup_timetables: ["clock", gettext("Look up timetables")],
  lookup_departments: ["list", gettext("Look up departments")],
  lookup_records: ["list", gettext("Look up records")],
  recall: ["eye", gettext("Recall")],
  remember: ["pin", gettext("Remember")],
  forget: ["trash", gettext("Forget")],
  search_web: ["link", gettext("Search the web")],
};

export const CHANGES_TOPOLOGY = new Set(["create_nodes", "create_links", "start_nodes", "stop_nodes"]);

export function toolLabel(name) {
  if (NAMES[name]) return NAMES[name];
  const words = name.replaceAll("_", " ").trim() || gettext("tool");
  return ["chip", words[0].toUpperCase() + words.slice(1)];
}

export function parseJson(text) {
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

const list = (value) => (Array.isArray(value) ? value : []);
const counted = (text, number) => interpolate(text, { count: count(number) });

// Device names a call is about; while its arguments grow, the complete ones.
export function devicesOf(item) {
  const args = parseJson(item.args);
  if (!args) return [...item.args.matchAll(/"(?:device|node_a|node_b|name)"\s*:\s*"((?:[^"\\]|\\.)*)"/g)].map((match) => parseJson(`["${match[1]}"]`)?.[0] ?? match[1]);
  const names = [
    ...list(args.devices).map((entry) => (typeof entry === "string" ? entry : entry?.device)),
    ...list(args.nodes).map((entry) => (typeof entry === "string" ? entry : (entry?.name ?? entry?.node))),
    ...list(args.links).flatMap((entry) => [entry?.node_a, entry?.node_b]),
    args.device, args.node,
  ];
  return [...new Set(names.filter((name) => typeof name === "string" && name))];
}

export function failedDevices(item) {
  const output = parseJson(item.output ?? "");
  const failed = [...list(output?.failed).map((entry) => entry?.name ?? entry?.node ?? entry?.device), ...list(output?.devices).filter((entry) => entry?.status === "failed").map((entry) => entry.device)];
  return new Set(failed);
}

function commandsOf(item) {
  const args = parseJson(item.args);
  const commands = [...list(args?.devices), args ?? {}].flatMap((entry) => list(entry?.commands)).filter((command) => typeof command === "string");
  return [...new Set(commands)];
}

function offWords(node) {
  if (node.status === "stopped") return interpolate(gettext("%(name)s is stopped"), { name: node.name });
  if (node.status === "suspended") return interpolate(gettext("%(name)s is suspended"), { name: node.name });
  return interpolate(gettext("%(name)s is %(state)s"), { name: node.name, state: node.status });
}

const links = (found) => counted(ngettext("%(count)s link", "%(count)s links", list(found).length), list(found).length);

function facts(found, one) {
  return counted(one(list(found).length), list(found).length);
}

const doneFacts = {
  read_topology(output) {
    const nodes = list(output.nodes);
    const off = nodes.filter((node) => node?.status && node.status !== "started").map(offWords);
    const cut = list(output.links).filter((link) => link?.suspended).map((link) => interpolate(gettext("%(link)s is suspended"), { link: `${link.a}–${link.b}` }));
    return [counted(ngettext("%(count)s device", "%(count)s devices", nodes.length), nodes.length), links(output.links), ...off, ...cut].join(", ");
  },
  list_templates: (output) => facts(output.templates, (n) => ngettext("%(count)s template", "%(count)s templates", n)),
  create_nodes: (output) => named(list(output.created).map((entry) => entry?.name), gettext("%(names)s created"), gettext("none created")),
  create_links: (output) => links(output.created),
  describe_data: (output) => facts(list(output.sources).flatMap((source) => list(source?.tables)), (n) => ngettext("%(count)s table", "%(count)s tables", n)),
  query_data: (output) => facts(output.rows, (n) => (output.truncated ? ngettext("%(count)s row, cut", "%(count)s rows, cut", n) : ngettext("%(count)s row", "%(count)s rows", n))),
  start_nodes: (output) => named(list(output.started), gettext("%(names)s started"), gettext("none started")),
  stop_nodes: (output) => named(list(output.stopped), gettext("%(names)s stopped"), gettext("none stopped")),
  search_documents: (output) => facts(output.passages, (n) => ngettext("%(count)s passage", "%(count)s passages", n)),
  search_web: (output) => facts(output.pages, (n) => ngettext("%(count)s page", "%(count)s pages", n)),
  recall: (output) => facts(output.notes, (n) => ngettext("%(count)s note", "%(count)s notes", n)),
};

const named = (names, some, none) => (names.length ? interpolate(some, { names: names.join(", ") }) : none);

function failure(item) {
  const output = parseJson(item.output ?? "");
  if (!output) return item.isError ? (item.output ?? "").trim() : "";
  const reasons = [...list(output.devices), ...list(output.failed)].filter((entry) => entry?.error).map((entry) => entry.error);
  return [...new Set([output.error, output.message, ...reasons].filter((text) => typeof text === "string" && text))].join(". ");
}

// {summary, isBad}: a call counts as failed when nothing of it worked.
export function summarise(item) {
  if (item.phase === "writing") return { summary: gettext("being written"), isBad: false };
  if (item.phase === "abandoned") return { summary: gettext("not finished"), isBad: false };
  const commands = commandsOf(item).join(", ");
  if (item.phase !== "done") return { summary: commands || (item.phase === "ready" ? gettext("ready") : gettext("running")), isBad: false };
  const output = parseJson(item.output ?? "");
  const devices = list(output?.devices);
  const allFailed = devices.length > 0 && devices.every((entry) => entry?.status === "failed");
  const reason = failure(item);
  if (item.isError || allFailed) return { summary: reason || gettext("failed"), isBad: true };
  const counted = item.name.startsWith("lookup_") && Array.isArray(output?.records) ? facts(output.records, (n) => ngettext("%(count)s record", "%(count)s records", n)) : null;
  const fact = counted ?? (output && doneFacts[item.name]?.(output));
  return { summary: [fact ?? commands, reason].filter(Boolean).join("; ") || firstLine(item.output ?? ""), isBad: false };
}

const firstLine = (text) => text.trim().split("\n", 1)[0].slice(0, 160);
