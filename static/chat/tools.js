// What a tool call says in one line: name, devices, the fact that matters.

const NAMES = {
  read_topology: ["nodes", "Read topology"],
  list_templates: ["list", "List templates"],
  create_nodes: ["new", "Create devices"],
  create_links: ["link", "Connect devices"],
  start_nodes: ["play", "Start devices"],
  stop_nodes: ["stop", "Stop devices"],
  run_commands: ["term", "Run commands"],
  describe_data: ["list", "Describe data"],
  query_data: ["list", "Query data"],
  search_documents: ["search", "Search documents"],
  lookup_faculty: ["list", "Look up people"],
  lookup_courses: ["list", "Look up courses"],
  lookup_facilities: ["list", "Look up rooms"],
  lookup_timetables: ["clock", "Look up timetables"],
  lookup_departments: ["list", "Look up departments"],
  lookup_records: ["list", "Look up records"],
  recall: ["eye", "Recall"],
  remember: ["pin", "Remember"],
  forget: ["trash", "Forget"],
  search_web: ["link", "Search the web"],
};

export const CHANGES_TOPOLOGY = new Set(["create_nodes", "create_links", "start_nodes", "stop_nodes"]);

export function toolLabel(name) {
  if (NAMES[name]) return NAMES[name];
  const words = name.replaceAll("_", " ").trim() || "tool";
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
const plural = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

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

const doneFacts = {
  read_topology(output) {
    const nodes = list(output.nodes);
    const off = nodes.filter((node) => node?.status && node.status !== "started").map((node) => `${node.name} is ${node.status}`);
    const cut = list(output.links).filter((link) => link?.suspended).map((link) => `${link.a}–${link.b} is suspended`);
    return [plural(nodes.length, "device"), plural(list(output.links).length, "link"), ...off, ...cut].join(", ");
  },
  list_templates: (output) => plural(list(output.templates).length, "template"),
  create_nodes: (output) => named("created", list(output.created).map((entry) => entry?.name)),
  create_links: (output) => plural(list(output.created).length, "link"),
  describe_data: (output) => plural(list(output.sources).flatMap((source) => list(source?.tables)).length, "table"),
  query_data: (output) => `${plural(list(output.rows).length, "row")}${output.truncated ? ", cut" : ""}`,
  start_nodes: (output) => named("started", list(output.started)),
  stop_nodes: (output) => named("stopped", list(output.stopped)),
  search_documents: (output) => plural(list(output.passages).length, "passage"),
  search_web: (output) => plural(list(output.pages).length, "page"),
  recall: (output) => plural(list(output.notes).length, "note"),
};

const named = (verb, names) => (names.length ? `${names.join(", ")} ${verb}` : `none ${verb}`);

function failure(item) {
  const output = parseJson(item.output ?? "");
  if (!output) return item.isError ? (item.output ?? "").trim() : "";
  const reasons = [...list(output.devices), ...list(output.failed)].filter((entry) => entry?.error).map((entry) => entry.error);
  return [...new Set([output.error, output.message, ...reasons].filter((text) => typeof text === "string" && text))].join(". ");
}

// {summary, isBad}: a call counts as failed when nothing of it worked.
export function summarise(item) {
  if (item.phase === "writing") return { summary: "being written", isBad: false };
  if (item.phase === "abandoned") return { summary: "not finished", isBad: false };
  const commands = commandsOf(item).join(", ");
  if (item.phase !== "done") return { summary: commands || (item.phase === "ready" ? "ready" : "running"), isBad: false };
  const output = parseJson(item.output ?? "");
  const devices = list(output?.devices);
  const allFailed = devices.length > 0 && devices.every((entry) => entry?.status === "failed");
  const reason = failure(item);
  if (item.isError || allFailed) return { summary: reason || "failed", isBad: true };
  const counted = item.name.startsWith("lookup_") && Array.isArray(output?.records) ? plural(output.records.length, "record") : null;
  const fact = counted ?? (output && doneFacts[item.name]?.(output));
  return { summary: [fact ?? commands, reason].filter(Boolean).join("; ") || firstLine(item.output ?? ""), isBad: false };
}

const firstLine = (text) => text.trim().split("\n", 1)[0].slice(0, 160);
