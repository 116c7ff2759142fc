"""Answers questions about databases: describe, look words up, query, tell."""

from collections.abc import Mapping, Sequence
from typing import Any

from llmconfig.offline import data_sql
from llmconfig.offline.data_answer import Rows, cell, report, table
from llmconfig.offline.data_phrases import tell
from llmconfig.offline.data_question import (
    Plan,
    asks_for_rows,
    is_overview,
    plan_for,
    settle,
    table_of,
)
from llmconfig.offline.data_schema import Source, read_sources
from llmconfig.offline.steps import Call, Step, Turn

_PLURAL = 2


def answer_data(turn: Turn) -> Step:
    """The next step for a question about data."""
    described = turn.evidence.of("describe_data")
    if not described:
        return turn.call(Call("describe_data"))
    if described[-1].is_error:
        return turn.failed("describe_data", described[-1].error)
    sources = read_sources([result.data for result in described])
    if not sources:
        return turn.plain(tell(turn.question.language, "no_source"))
    text = turn.question.text
    if is_overview(text):
        return _overview(turn, sources)
    readable = [source for source in sources if source.tables]
    if not readable:
        return turn.failed("describe_data", sources[0].error)
    if asks_for_rows(text):
        return _rows_of_each(turn, readable[0])
    plans = [(plan_for(text, source), source) for source in readable]
    # The source whose tables and columns the question names most often.
    plan, source = max(plans, key=lambda pair: pair[0].matched)
    if not plan.matched and not (plan.aggregate and plan.terms):
        return _unclear(turn, sources)
    return _answer(turn, plan, source)


def _answer(turn: Turn, plan: Plan, source: Source) -> Step:
    language = turn.question.language
    filters: list[data_sql.Filter] = []
    done = turn.evidence.of("query_data")
    if plan.terms:
        if not done:
            search = data_sql.search(plan.terms, source)
            return turn.call(_query(source, search))
        if done[0].is_error:
            return _failed(turn, done[0].error)
        found, missing = _places(plan, source, done[0].data)
        if missing:
            names = ", ".join(f"“{term}”" for term in missing)
            return turn.plain(
                tell(language, "not_found", terms=names, source=source.name),
                tell(language, "not_found.detail"),
            )
        filters, done = found, done[1:]
        if plan.table is None:
            plan.table = table_of(plan, [column for column, _ in filters], source)
    if not plan.is_clear:
        return _unclear(turn, [source])
    if not done:
        columns = [column for column, _ in filters]
        is_sound = settle(plan, columns, source)
        sql = data_sql.select(plan, filters, source) if is_sound else None
        if sql is None:
            also = [column for column in (plan.group, plan.measure) if column]
            tables = ", ".join(sorted({column.table for column in (*columns, *also)}))
            return turn.plain(
                tell(language, "no_way", tables=tables, source=source.name)
            )
        return turn.call(_query(source, sql))
    # The same choice as when it was asked.
    settle(plan, [column for column, _ in filters], source)
    if done[-1].is_error:
        return _failed(turn, done[-1].error)
    return report(turn, plan, plan.terms, Rows.of(done[-1].data))


def _query(source: Source, sql: str) -> Call:
    return Call("query_data", {"source": source.name, "sql": sql})


def _places(
    plan: Plan, source: Source, data: Mapping[str, Any]
) -> tuple[list[data_sql.Filter], list[str]]:
    """For each word the column where it stands most exactly, and the words nowhere."""
    rows = [row for row in Rows.of(data).values if len(row) >= 5 and row[3]]
    found: list[data_sql.Filter] = []
    missing = []
    for term in plan.terms:
        hits = [row for row in rows if row[0] == term]
        if not hits:
            missing.append(term)
            continue
        hits.sort(key=lambda row: _distance(row, term, plan, source))
        _, in_table, in_column, *_ = hits[0]
        columns = source.tables[str(in_table)].columns
        found += [(c, term) for c in columns if c.name == in_column]
    return found, missing


def _distance(
    row: Sequence[Any], term: str, plan: Plan, source: Source
) -> tuple[bool, int, int]:
    """A value that is the word alone goes first, then the nearest table."""
    _, in_table, _, hits, shortest = row[:5]
    is_exact = int(shortest or 0) <= len(term) + _PLURAL
    start = plan.table.name if plan.table else str(in_table)
    goals = [str(in_table)] if start != in_table else []
    way = source.path(start, goals) if goals else []
    return not is_exact, 99 if way is None else len(way), int(hits)


def _rows_of_each(turn: Turn, source: Source) -> Step:
    done = turn.evidence.of("query_data")
    if not done:
        return turn.call(_query(source, data_sql.count_rows(source)))
    if done[-1].is_error:
        return _failed(turn, done[-1].error)
    said = tell(turn.question.language, "each", source=source.name)
    return turn.plain(said, *table(turn, Rows.of(done[-1].data)))


def _overview(turn: Turn, sources: Sequence[Source]) -> Step:
    parts = []
    for source in sources:
        lines = [f"**{cell(source.title or source.name)}** (`{source.name}`)"]
        if source.error:
            lines.append(f"- {source.error}")
        lines += [
            f"- {cell(name)}: {', '.join(cell(column.name) for column in of.columns)}"
            for name, of in source.tables.items()
        ]
        parts.append("\n".join([lines[0], "", *lines[1:]]))
    return turn.plain(tell(turn.question.language, "overview"), *parts)


def _unclear(turn: Turn, sources: Sequence[Source]) -> Step:
    language = turn.question.language
    names = [cell(name) for source in sources for name in source.tables][:30]
    return turn.plain(
        tell(language, "unclear"), tell(language, "unclear.detail"), ", ".join(names)
    )


def _failed(turn: Turn, error: str) -> Step:
    return turn.plain(tell(turn.question.language, "refused"), error)


def is_for_data(tools: frozenset[str], *, is_unknown: bool) -> bool:
    """Where there is no lab, every question is; else what no lab rule understands."""
    return "query_data" in tools and ("read_topology" not in tools or is_unknown)
