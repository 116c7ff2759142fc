"""Rows → an answer in Markdown: the finding, the table with marks, the query."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llmconfig.offline.data_phrases import tell
from llmconfig.offline.data_question import Plan
from llmconfig.offline.data_sql import title
from llmconfig.offline.markdown import fence
from llmconfig.offline.steps import Answer, Turn

_SHOWN = 15


@dataclass(frozen=True)
class Rows:
    """What query_data returned; `marks` are how its rows are cited."""

    source: str
    query: str
    columns: list[str]
    values: list[list[Any]]
    marks: list[str]
    is_cut: bool

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "Rows":
        rows = [row for row in data.get("rows") or [] if isinstance(row, Mapping)]
        return cls(
            str(data.get("source", "")),
            str(data.get("query", "")),
            [str(column) for column in data.get("columns") or []],
            [list(row.get("values") or []) for row in rows],
            [str(row.get("cite") or "") for row in rows],
            bool(data.get("truncated")),
        )


def report(
    turn: Turn, plan: Plan, terms: Sequence[str], rows: Rows, sql: str = ""
) -> Answer:
    language = turn.question.language
    query = _query(turn, rows)
    if not rows.values:
        return turn.plain(tell(language, "none"), tell(language, "none.detail"), query)
    if plan.aggregate and plan.group is None:
        return turn.plain(_value(turn, plan, terms, rows), query)
    return turn.plain(_headline(turn, plan, terms, rows), *table(turn, rows), query)


def _value(turn: Turn, plan: Plan, terms: Sequence[str], rows: Rows) -> str:
    language = turn.question.language
    name = title(plan)
    name = tell(language, "number") if name == "number" else name
    name = name[0].upper() + name[1:]
    facts = {"title": name, "value": f"{shown(rows.values[0][0])} {rows.marks[0]}"}
    if terms:
        return tell(language, "value.of", terms=_list(terms), **facts).strip()
    return tell(language, "value", **facts).strip()


def _headline(turn: Turn, plan: Plan, terms: Sequence[str], rows: Rows) -> str:
    language = turn.question.language
    count = len(rows.values)
    if plan.group is not None and len(rows.columns) >= 2:
        first = rows.values[0]
        key = "first.least" if plan.order == "ASC" else "first"
        value = f"{shown(first[1])} {rows.marks[0]}".strip()
        return tell(language, key, name=shown(first[0]), value=value)
    key = "rows.one" if count == 1 else "rows"
    text = tell(
        language,
        f"{key}.of" if terms else key,
        count=str(count),
        terms=_list(terms),
    )
    return (
        f"{text} ({tell(language, 'rows.cut', count=str(count))})"
        if (rows.is_cut)
        else text
    )


def table(turn: Turn, rows: Rows) -> list[str]:
    """At most a screenful, each row with its mark."""
    lines = [
        f"| {' | '.join(map(cell, [*rows.columns, '']))} |",
        f"|{'---|' * (len(rows.columns) + 1)}",
    ]
    for values, mark in zip(rows.values[:_SHOWN], rows.marks, strict=False):
        lines.append(f"| {' | '.join([*map(cell, values), mark])} |")
    parts = ["\n".join(lines)]
    if (more := len(rows.values) - _SHOWN) > 0:
        parts.append(tell(turn.question.language, "more", count=str(more)))
    return parts


def _query(turn: Turn, rows: Rows) -> str:
    said = tell(turn.question.language, "query", source=rows.source)
    return f"{said}\n\n{fence(rows.query)}" if rows.query else ""


def cell(value: Any) -> str:
    """Text of a row cannot become Markdown of its own."""
    text = " ".join(shown(value).split())
    for mark in "\\`*_[]<>|#":
        text = text.replace(mark, f"\\{mark}")
    return text


def shown(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _list(terms: Sequence[str]) -> str:
    return ", ".join(f"“{term}”" for term in terms)
