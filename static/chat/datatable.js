// What a database answered: the query, its rows in pages, a picture where one helps.

import { button, h, icon } from "./dom.js";
import { gettext, interpolate, ngettext } from "./i18n.js";
import { count as written } from "./times.js";
import { parseJson } from "./tools.js";

const PAGE = 20;
const BARS = { least: 2, most: 24 };
const SVG = "http://www.w3.org/2000/svg";
const BAR = { height: 18, gap: 6, label: 150, width: 520, value: 90 };

// Nodes for the card's body; null when the result is none of a query.
export function dataTable(item) {
  const data = parseJson(item.output ?? "");
  if (item.name !== "query_data" || !Array.isArray(data?.columns) || !Array.isArray(data.rows)) return null;
  const columns = data.columns.map(String);
  const rows = data.rows.map((row) => ({
    mark: String(row?.cite ?? "").replace(/[[\]]/g, ""),
    values: Array.isArray(row?.values) ? row.values : [],
  }));
  return [query(data), ...(rows.length ? table(item.id, columns, rows) : []), ...notes(data, rows), picture(columns, rows)].filter(Boolean);
}

function query(data) {
  const title = interpolate(gettext("Query of %(source)s"), { source: data.source ?? "" });
  return h("figure", { class: "code" },
    h("figcaption", { class: "code__bar row" }, h("span", { class: "grow cut", dir: "auto" }, title),
      h("button", { type: "button", class: "iconbtn iconbtn--sm", "data-act": "copy-code", "aria-label": gettext("Copy the query") }, icon("copy", "icon--sm"))),
    h("pre", { class: "data__query", tabindex: "0", role: "region", "aria-label": title, dir: "ltr" }, String(data.query ?? "")));
}

function table(callId, columns, rows) {
  const numeric = columns.map((_, at) => rows.every((row) => row.values[at] === null || typeof row.values[at] === "number"));
  const body = h("tbody");
  const wrap = h("div", { class: "tablewrap data__wrap", tabindex: "0", role: "region", "aria-label": gettext("Rows") },
    h("table", { class: "table data__table" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "data__mark" }, h("span", { class: "sr" }, gettext("Source"))),
        ...columns.map((name, at) => h("th", { scope: "col", class: numeric[at] ? "data__number" : null, dir: "auto" }, name)))),
      body));
  const show = (start) => body.replaceChildren(...rows.slice(start, start + PAGE).map((row, at) => tableRow(row, `row-${callId}-${start + at + 1}`, numeric)));
  show(0);
  return rows.length > PAGE ? [wrap, pager(rows.length, show, wrap)] : [wrap];
}

function tableRow(row, id, numeric) {
  const mark = row.mark ? h("span", { class: "cite", title: interpolate(gettext("Cited as [%(n)s]"), { n: row.mark }) }, row.mark) : null;
  return h("tr", { id }, h("th", { scope: "row", class: "data__mark" }, mark),
    ...numeric.map((isNumber, at) => cell(row.values[at], isNumber)));
}

function cell(value, isNumber) {
  if (value === null || value === undefined) return h("td", { class: "faint" }, "–");
  if (typeof value === "number") return h("td", { class: isNumber ? "data__number num" : "num" }, written(value));
  return h("td", { dir: "auto" }, String(value));
}

function pager(count, show, wrap) {
  let start = 0;
  const place = h("span", { class: "grow num", role: "status" });
  const back = button(gettext("Previous"), { class: "btn btn--sm" });
  const next = button(gettext("Next"), { class: "btn btn--sm" });
  const go = (to) => {
    start = to;
    show(start);
    wrap.scrollTop = 0;
    place.textContent = interpolate(gettext("Rows %(first)s to %(last)s of %(count)s"), { first: start + 1, last: Math.min(start + PAGE, count), count });
    back.disabled = start === 0;
    next.disabled = start + PAGE >= count;
  };
  back.addEventListener("click", () => go(start - PAGE));
  next.addEventListener("click", () => go(start + PAGE));
  go(0);
  return h("div", { class: "data__pager row" }, place, back, next);
}

function notes(data, rows) {
  const found = [];
  if (!rows.length) found.push(gettext("No row fits the query."));
  if (data.truncated) found.push(interpolate(ngettext("Cut after %(count)s row: the database has more.", "Cut after %(count)s rows: the database has more.", rows.length), { count: rows.length }));
  return found.map((text) => h("p", { class: "tool__note row" }, icon("alert", "icon--sm"), text));
}

// Bars where one column names things and the other counts them.
function picture(columns, rows) {
  const isFitting = columns.length === 2 && rows.length >= BARS.least && rows.length <= BARS.most
    && rows.every(({ values }) => typeof values[0] === "string" && typeof values[1] === "number" && values[1] >= 0);
  const most = Math.max(...rows.map(({ values }) => values[1]));
  if (!isFitting || most <= 0) return null;
  const height = rows.length * (BAR.height + BAR.gap);
  const label = interpolate(gettext("%(what)s by %(name)s as bars"), { what: columns[1], name: columns[0] });
  const picture = svg("svg", { class: "data__bars", viewBox: `0 0 ${BAR.width} ${height}`, role: "img", "aria-label": label });
  rows.forEach(({ values: [name, value] }, at) => {
    const top = at * (BAR.height + BAR.gap);
    const length = Math.max(1, ((BAR.width - BAR.label - BAR.value) * value) / most);
    picture.append(
      text(short(name), { x: BAR.label - 8, y: top + 13, class: "data__name" }),
      svg("rect", { x: BAR.label, y: top, width: length, height: BAR.height, rx: 3 }),
      text(written(value), { x: BAR.label + length + 6, y: top + 13 }));
  });
  return h("figure", { class: "data__picture" }, picture);
}

function svg(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

function text(content, attributes) {
  const element = svg("text", attributes);
  element.textContent = content;
  return element;
}

const short = (name) => (name.length > 22 ? `${name.slice(0, 21)}…` : name);
