"""A question in words + a schema → what to ask the database."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from llmconfig.offline import data_words as w
from llmconfig.offline.data_schema import Column, Source, Table

_LIST_LIMIT = 100
_TOP = 5


@dataclass
class Plan:
    """What is wanted; `terms` are words that must be values somewhere."""

    table: Table | None = None
    measure: Column | None = None
    # "count" | "sum" | "avg" | "" (rows as they are)
    aggregate: str = ""
    group: Column | None = None
    conditions: list[tuple[Column, str, str]] = field(default_factory=list)
    order: str = ""
    limit: int = _LIST_LIMIT
    terms: list[str] = field(default_factory=list)
    matched: int = 0

    @property
    def is_clear(self) -> bool:
        return self.table is not None


@dataclass(frozen=True)
class _Names:
    """Tables and columns that the words of a question name."""

    source: Source

    def table(self, phrase: str) -> Table | None:
        wanted = " ".join(w.stem(word) for word in _known(phrase))
        for table in self.source.tables.values():
            if wanted == table.stem:
                return table
        return None

    def column(self, word: str, prefer: Table | None = None) -> Column | None:
        stem = w.stem(_known(word)[0]) if word else ""
        found = [
            column
            for column in self.source.columns()
            if stem and (stem in column.stems or column.name.lower() == word)
        ]
        # In the table that is spoken of; then what is no reference; then the shortest.
        found.sort(
            key=lambda column: (
                prefer is None or column.table != prefer.name,
                bool(column.refers_to),
                len(column.stems),
            )
        )
        return found[0] if found else None


def plan_for(text: str, source: Source) -> Plan:
    """As much as the words say; `is_clear` tells whether that is enough."""
    text = w.plain(text)
    names, plan = _Names(source), Plan()
    rest = _read_numbers(text, plan)
    numbers = _comparisons(rest, plan)
    for _, piece, _ in numbers:
        rest = rest.replace(piece, " ")
    group_word, rest = _group_word(rest, plan)
    tables, columns, plan.terms = _match(rest, names)
    plan.matched = len(tables) + len(columns)
    _choose(plan, text, tables, columns, names)
    if plan.order and " by " in rest:
        _set_ranked(plan, rest, names)
    if group_word:
        _set_group(plan, group_word, names)
    _finish(plan, text, numbers, names, tables)
    return plan


def table_of(plan: Plan, found: Sequence[Column], source: Source) -> Table:
    """Of what is asked where only values were named: `how many … are in …`."""
    names = list(dict.fromkeys(column.table for column in found))
    near = [
        table
        for table in source.tables.values()
        if table.name not in names and source.is_above(table.name, names)
    ]
    # Amounts of things where several were named, else the things themselves.
    near.sort(key=lambda table: _is_labelled(table) == (len(names) > 1))
    if plan.aggregate and near:
        if len(near[0].measures) == 1 and not _is_labelled(near[0]):
            plan.measure, plan.aggregate = near[0].measures[0], "sum"
        return near[0]
    return source.tables[names[0]]


def settle(plan: Plan, found: Sequence[Column], source: Source) -> bool:
    """False where a sum would take rows twice; another column may do better."""
    others = [column.table for column in (*found, plan.group) if column is not None]
    if plan.aggregate not in ("sum", "avg") or plan.measure is None:
        return True
    for column in (plan.measure, *source.columns()):
        if column.name == plan.measure.name and source.is_above(column.table, others):
            plan.measure, plan.table = column, source.tables[column.table]
            return True
    return False


def _known(phrase: str) -> list[str]:
    return [w.SYNONYMS.get(word, word) for word in w.words(phrase)] or [""]


def _read_numbers(text: str, plan: Plan) -> str:
    """Top 5, the most, the least."""
    if found := w.TOP.search(text):
        plan.order, plan.limit = "DESC", int(found["count"] or _TOP)
        text = text[: found.start()] + " top " + text[found.end() :]
    if w.LEAST.search(text):
        plan.order = "ASC"
    elif w.MOST.search(text):
        plan.order = "DESC"
    if plan.order and plan.limit == _LIST_LIMIT:
        plan.limit = _TOP
    return text


def _comparisons(text: str, plan: Plan) -> list[tuple[str, str, str]]:
    """Operator, the words that say so, the number."""
    found: list[tuple[str, str, str]] = []
    for operator, pattern in w.COMPARISONS:
        for match in pattern.finditer(text):
            if not any(match[0] in piece for _, piece, _ in found):
                found.append((operator, match[0], w.number(match["number"])))
    return found


def _group_word(text: str, plan: Plan) -> tuple[str, str]:
    """After `per`; after a `top`, `by` names the measure instead."""
    found = w.PER.search(text)
    if found is None or (plan.order and found[0].startswith("by ")):
        return "", text
    return found["what"], text[: found.start()] + " " + text[found.end("what") :]


def _match(
    text: str, names: _Names
) -> tuple[list[Table], list[tuple[str, Column]], list[str]]:
    """Tables, columns, and the runs of words that name neither."""
    tables: list[Table] = []
    columns: list[tuple[str, Column]] = []
    runs: list[list[str]] = [[]]
    tokens = w.words(text)
    index = 0
    while index < len(tokens):
        word, pair = tokens[index], " ".join(tokens[index : index + 2])
        table = names.table(pair) if " " in pair else None
        index += 2 if table else 1
        table = table or names.table(word)
        if table is not None:
            tables.append(table)
        elif word in w.SYNONYMS and (column := names.column(w.SYNONYMS[word])):
            columns.append((word, column))
        elif word in w.STOP:
            pass
        elif column := names.column(word):
            columns.append((word, column))
        else:
            runs[-1].append(word)
            continue
        runs.append([])
    terms = [" ".join([*run[:-1], w.stem(run[-1])]) for run in runs if run]
    return list(dict.fromkeys(tables)), columns, terms


def _choose(
    plan: Plan,
    text: str,
    tables: list[Table],
    columns: list[tuple[str, Column]],
    names: _Names,
) -> None:
    """The measure, and the table whose rows are asked for."""
    main = tables[0] if tables else None
    columns = [(word, names.column(word, main) or one) for word, one in columns]
    columns = [
        (word, names.column(w.SYNONYMS.get(word, word), main) or one)
        for word, one in columns
    ]
    measures = [column for _, column in columns if column.is_measure]
    is_count = bool(w.COUNT.search(text))
    if w.AVERAGE.search(text):
        plan.aggregate = "avg"
    elif w.TOTAL.search(text):
        plan.aggregate = "sum"
    elif is_count:
        plan.aggregate = "count"
    plan.measure = measures[0] if measures else None
    if plan.measure is None:
        # `stock` is asked for by its quantity.
        for table in tables:
            if len(table.measures) == 1 and not _is_labelled(table):
                if plan.aggregate or plan.order or table is main:
                    plan.measure = table.measures[0]
                    plan.aggregate = plan.aggregate or ("" if plan.order else "sum")
                break
    if plan.aggregate == "count" and plan.measure is not None:
        is_counted = plan.measure.name.lower() not in ("price", "unit_price")
        plan.aggregate = "sum" if is_counted and not measures else "count"
    if plan.measure is not None:
        plan.table = names.source.tables[plan.measure.table]
    elif main is not None:
        plan.table = main
    elif columns:
        plan.table = names.source.tables[columns[0][1].table]
    if plan.aggregate == "count":
        plan.table = main or plan.table


def _is_labelled(table: Table) -> bool:
    """Its rows are things with names, not amounts of things."""
    return table.label.is_text and table.label.name.lower() in ("name", "title")


def _set_group(plan: Plan, phrase: str, names: _Names) -> None:
    for wanted in (phrase, phrase.split()[0]):
        if table := names.table(wanted):
            plan.group = table.label
        elif column := names.column(wanted, plan.table):
            plan.group = _label_of(column, names.source)
        if plan.group is not None:
            plan.matched += 1
            break
    else:
        plan.terms.append(phrase)
    if plan.group is not None:
        plan.aggregate = plan.aggregate or ("sum" if plan.measure else "count")
        plan.table = plan.table or names.source.tables[plan.group.table]


def _set_ranked(plan: Plan, text: str, names: _Names) -> None:
    """`top 3 customers by orders`: what stands first is ranked, the rest measures."""
    head = text.partition(" by ")[0]
    tables, columns, _ = _match(head, names)
    label = tables[0].label if tables else None
    if label is None and columns and not columns[0][1].is_measure:
        label = _label_of(columns[0][1], names.source)
    if label is None or plan.table is None:
        return
    is_same_row = plan.measure is not None and plan.measure.table == label.table
    if is_same_row and tables:
        plan.aggregate = ""
    else:
        plan.group = label
        plan.aggregate = plan.aggregate or ("sum" if plan.measure else "count")


def _label_of(column: Column, source: Source) -> Column:
    """A reference stands for the name of what it refers to."""
    other = source.tables.get(column.refers_to.rpartition(".")[0])
    return other.label if other else column


def _finish(
    plan: Plan,
    text: str,
    numbers: list[tuple[str, str, str]],
    names: _Names,
    tables: list[Table],
) -> None:
    for operator, _, value in numbers:
        column = plan.measure
        if column is None and plan.table is not None and plan.table.measures:
            column = plan.table.measures[0]
        if column is not None:
            plan.conditions.append((column, operator, value))
    if plan.measure is not None and not plan.order:
        said = w.IS.search(text)
        if said and w.stem(said["what"]) in plan.measure.stems:
            equals = "=" if w.IS_NOT.search(text) else ">"
            plan.conditions.append((plan.measure, equals, "0"))
    if plan.conditions and plan.aggregate == "sum" and not w.TOTAL.search(text):
        plan.aggregate = "count"
    if plan.order and not plan.aggregate and plan.measure is not None:
        entity = tables[0] if tables else None
        if entity is not None and entity.name != plan.measure.table:
            # `top 5 products by stock`: a sum for each of them.
            plan.aggregate, plan.group = "sum", plan.group or entity.label
    elif plan.order and not plan.aggregate and len(tables) > 1:
        plan.aggregate, plan.group = "count", tables[0].label
        plan.table = tables[1]


def is_overview(text: str) -> bool:
    return bool(w.OVERVIEW.search(w.plain(text)) or re.search("哪些数据", text))


def asks_for_rows(text: str) -> bool:
    return bool(w.ROWS.search(w.plain(text)) or re.search("多少行", text))
