"""A plan → one SELECT; and one that looks where a word stands in the data."""

import re
from collections.abc import Sequence

from llmconfig.offline.data_question import Plan
from llmconfig.offline.data_schema import Column, Join, Source, Table

_SIMPLE = re.compile(r"[a-z_][a-z0-9_]*")
_RESERVED = """
all and any as asc between by case cast check column constraint create cross current
default delete desc distinct do else end except exists fetch for foreign from full
grant group having in index inner insert intersect into is join key left like limit
natural not null offset on or order outer over primary references right row rows select
set table then to transaction union unique update user using values when where window
with
"""
_PLACES = 16
_TERMS = 3
Filter = tuple[Column, str]


def select(plan: Plan, filters: Sequence[Filter], source: Source) -> str | None:
    """None where no way leads from one table to another."""
    assert plan.table is not None
    needed = [column.table for column, _ in filters]
    needed += [column.table for column, _, _ in plan.conditions]
    needed += [column.table for column in (plan.group, plan.measure) if column]
    goals = [name for name in dict.fromkeys(needed) if name != plan.table.name]
    joins = source.path(plan.table.name, goals) if goals else []
    if joins is None:
        return None
    aliases = {plan.table.name: "t1"}
    for number, join in enumerate(joins, 2):
        aliases[join.right] = f"t{number}"
    where = [f"LOWER({_at(c, aliases)}) LIKE '%{_text(t)}%'" for c, t in filters]
    where += [f"{_at(c, aliases)} {op} {n}" for c, op, n in plan.conditions]
    shown = _shown(plan, [column for column, _ in filters], joins, aliases)
    parts = [f"SELECT {shown}", f"FROM {_name(plan.table.name)} AS t1"]
    parts += [_join(join, aliases) for join in joins]
    if where:
        parts.append(f"WHERE {' AND '.join(where)}")
    if plan.group is not None:
        parts.append(f"GROUP BY {_at(plan.group, aliases)}")
    if order := _order(plan, joins, aliases):
        parts.append(f"ORDER BY {order}")
    if plan.group is not None or not plan.aggregate:
        parts.append(f"LIMIT {plan.limit}")
    return " ".join(parts)


def _shown(
    plan: Plan,
    filtered: Sequence[Column],
    joins: Sequence[Join],
    aliases: dict[str, str],
) -> str:
    if plan.aggregate:
        columns = [_named(plan.group, plan, aliases)] if plan.group else []
        return ", ".join(
            [*columns, f"{_total(plan, joins, aliases)} AS {_quoted(title(plan))}"]
        )
    assert plan.table is not None
    chosen = [plan.table.label, *([plan.measure] if plan.measure else [])]
    chosen += [column for column, _, _ in plan.conditions]
    chosen += filtered
    if len(chosen) == 1:
        # Nothing but the table was named: its first columns say most.
        chosen += [c for c in plan.table.columns if not c.refers_to][:5]
    unique = dict.fromkeys(_named(column, plan, aliases) for column in chosen)
    # By way of a table with many rows for one, each would come many times.
    distinct = "" if all(join.is_forward for join in joins) else "DISTINCT "
    return distinct + ", ".join(unique)


def _named(column: Column, plan: Plan, aliases: dict[str, str]) -> str:
    """The name of another table's row is called as that table."""
    assert plan.table is not None
    if column.table == plan.table.name or column.name not in ("name", "title"):
        return _at(column, aliases)
    called = Table(column.table, ()).stem
    return f"{_at(column, aliases)} AS {_quoted(called)}"


def title(plan: Plan) -> str:
    """What the computed column is called."""
    if plan.aggregate == "count" or plan.measure is None:
        return "number"
    word = {"sum": "total", "avg": "average"}[plan.aggregate]
    return f"{word} {plan.measure.name.replace('_', ' ')}"


def _total(plan: Plan, joins: Sequence[Join], aliases: dict[str, str]) -> str:
    if plan.aggregate == "count" or plan.measure is None:
        keys = [c for c in plan.table.columns if c.is_key] if plan.table else []
        if len(keys) == 1 and not all(join.is_forward for join in joins):
            # By way of a table with many rows for one, each would count many times.
            return f"COUNT(DISTINCT {_at(keys[0], aliases)})"
        return "COUNT(*)"
    value = _at(plan.measure, aliases)
    if plan.aggregate == "avg":
        return f"ROUND(AVG({value}), 2)"
    return f"SUM({value})"


def _order(plan: Plan, joins: Sequence[Join], aliases: dict[str, str]) -> str:
    if plan.group is not None:
        return f"{_total(plan, joins, aliases)} {plan.order or 'DESC'}"
    if plan.aggregate:
        return ""
    by = plan.measure or next((column for column, _, _ in plan.conditions), None)
    return f"{_at(by, aliases)} {plan.order or 'DESC'}" if by else ""


def _join(join: Join, aliases: dict[str, str]) -> str:
    left, right = aliases[join.left], aliases[join.right]
    return (
        f"JOIN {_name(join.right)} AS {right} ON "
        f"{right}.{_quoted(join.right_column)} = {left}.{_quoted(join.left_column)}"
    )


def search(terms: Sequence[str], source: Source) -> str:
    """In which text columns the words stand, how often, and how exactly."""
    places = [column for column in source.columns() if column.is_text][:_PLACES]
    parts = []
    for term in terms[:_TERMS]:
        for column in places:
            value = f"LOWER({_quoted(column.name)})"
            parts.append(
                f"SELECT '{_text(term)}' AS term, "
                f"'{_text(column.table)}' AS in_table, '{_text(column.name)}' AS "
                f"in_column, COUNT(*) AS hits, MIN(LENGTH({_quoted(column.name)})) AS "
                f"shortest FROM {_name(column.table)} "
                f"WHERE {value} LIKE '%{_text(term)}%'"
            )
    return f"SELECT * FROM ({' UNION ALL '.join(parts)}) AS found WHERE hits > 0"


def count_rows(source: Source) -> str:
    return " UNION ALL ".join(
        f"SELECT '{_text(name)}' AS name, COUNT(*) AS number FROM {_name(name)}"
        for name in source.tables
    )


def _at(column: Column, aliases: dict[str, str]) -> str:
    return f"{aliases[column.table]}.{_quoted(column.name)}"


def _name(table: str) -> str:
    return ".".join(_quoted(part) for part in table.split("."))


def _quoted(name: str) -> str:
    if _SIMPLE.fullmatch(name) and name not in _RESERVED.split():
        return name
    return '"{}"'.format(name.replace('"', '""'))


def _text(value: str) -> str:
    return value.replace("'", "''").replace("%", "")
