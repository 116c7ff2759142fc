// What an answer rests on, in the words of the line below it.

import { gettext, interpolate } from "./i18n.js";
import { clock } from "./times.js";
import { parseJson } from "./tools.js";

const IN_LAB = new Set(["read_topology", "list_templates", "create_nodes", "create_links", "start_nodes", "stop_nodes", "run_commands"]);
const SOURCES = {
  search_documents: gettext("documents"),
  list_documents: gettext("documents"),
  read_document: gettext("documents"),
  search_web: gettext("web pages"),
  recall: gettext("what you asked to remember"),
};

/** One phrase a source, each once. Only what was read in this round counts. */
export function basisOf(round, isSimulated) {
  const read = round.items.filter((item) => item.kind === "tool" && item.phase === "done" && !item.isError);
  const inLab = read.findLast((item) => IN_LAB.has(item.name));
  const words = read.map(sourceOf).filter(Boolean);
  return [...new Set([inLab ? labWords(round.lab ?? (isSimulated ? "simulated" : "real"), inLab.endedAt) : null, ...words])].filter(Boolean);
}

function labWords(lab, readAt) {
  if (!readAt) return lab === "simulated" ? gettext("simulated lab") : gettext("real lab");
  const words = lab === "simulated" ? gettext("simulated lab, read %(time)s") : gettext("real lab, read %(time)s");
  return interpolate(words, { time: clock(readAt) });
}

function sourceOf(item) {
  if (item.name === "query_data") return interpolate(gettext("database %(name)s"), { name: parseJson(item.args)?.source ?? "" }).trim();
  if (item.name.startsWith("lookup_")) return gettext("directory");
  return SOURCES[item.name] ?? null;
}
