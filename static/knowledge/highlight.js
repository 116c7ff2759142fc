// Marks the words that were looked for, as the server folds them.

import { h } from "../chat/dom.js";

const UNSPACED = /[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

// Lower case without accents, and for each of its signs the place in the text.
function folded(text) {
  let out = "";
  const places = [];
  let place = 0;
  for (const sign of text) {
    const plain = sign.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("ß", "ss");
    for (let index = 0; index < plain.length; index += 1) places.push(place);
    out += plain;
    place += sign.length;
  }
  places.push(text.length);
  return { out, places };
}

const escaped = (term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

// A term is a word's stem: the rest of the word belongs to it.
function pattern(terms) {
  const parts = [...new Set(terms)].sort((a, b) => b.length - a.length).map((term) => {
    if (UNSPACED.test(term)) return escaped(term);
    const stem = term.length > 4 && term.endsWith("y") ? `${escaped(term.slice(0, -1))}(?:y|ies)` : escaped(term);
    return `(?<![\\p{L}\\p{N}])${stem}(?:s|es)?(?![\\p{L}\\p{N}])`;
  });
  return parts.length ? new RegExp(parts.join("|"), "gu") : null;
}

export function highlighted(text, terms) {
  const wanted = pattern(terms);
  if (!wanted) return [text];
  const { out, places } = folded(text);
  const nodes = [];
  let [start, end] = [0, 0];
  const flush = () => {
    if (end > start) nodes.push(h("mark", {}, text.slice(start, end)));
  };
  for (const found of out.matchAll(wanted)) {
    const [from, to] = [places[found.index], places[found.index + found[0].length]];
    // Pairs of Chinese signs overlap or touch: one mark.
    if (from > end || (from === end && end === 0)) {
      flush();
      nodes.push(text.slice(end, from));
      start = from;
    }
    end = Math.max(end, to);
  }
  flush();
  nodes.push(text.slice(end));
  return nodes.filter((node) => node !== "");
}
