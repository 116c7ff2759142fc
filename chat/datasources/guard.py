"""Lets exactly one harmless SELECT through, and says why another is refused.

What runs is never the text that came, but what sqlglot writes from the tree that was
checked: comments are gone, names are resolved and written in full, and what one parser
reads differently from the other can hide nothing. The engine is the second line: see
`engines`.
"""

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import DialectType
from sqlglot.errors import ErrorLevel, SqlglotError

from chat.datasources.address import POSTGRESQL
from chat.datasources.errors import QueryRefused
from chat.datasources.grammar import DIALECTS, TYPES, Grammar, grammar_of
from chat.datasources.tables import Catalogue, Table

# It would tell the log of each text that is no SELECT.
logging.getLogger("sqlglot").setLevel(logging.ERROR)

LENGTH = 10_000
_NODES = 3_000
_QUERIES = (exp.Select, exp.SetOperation, exp.Subquery)
_WHY: dict[type[exp.Expr], str] = {
    exp.Into: "SELECT INTO makes a table",
    exp.Lock: "FOR UPDATE and FOR SHARE lock rows of others",
    exp.Parameter: "there are no parameters: write the value itself",
    exp.Placeholder: "there are no parameters: write the value itself",
    exp.ObjectIdentifier: "casts to object identifiers read the system's catalogue",
    exp.Operator: "operators are written without a schema",
    exp.Dot: "functions and fields are written without a schema",
    exp.TableSample: "write ORDER BY and LIMIT instead of TABLESAMPLE",
    exp.Command: "it is no SELECT that can be checked",
}
_STRINGS = (exp.ByteString, exp.RawString, exp.UnicodeString, exp.HexString)
_PLAIN_NAME = re.compile(r"[^\W\d]\w*")
_PARTS_OF_SELECT = """
with_ expressions from_ distinct where joins laterals group having windows order limit
offset
"""


@dataclass(frozen=True, slots=True)
class Checked:
    """A query as it will run; `own_names` are those of its WITH."""

    sql: str
    tables: tuple[Table, ...]
    own_names: frozenset[str] = frozenset()


def check(sql: str, *, engine: str, catalogue: Catalogue) -> Checked:
    """The one SELECT in the text. Raises QueryRefused."""
    if len(sql) > LENGTH:
        raise _refused(f"it has {len(sql)} characters; at most {LENGTH} are read")
    dialect, grammar = DIALECTS[engine], grammar_of(engine)
    try:
        tree = _one_query(sql, dialect)
        _check_nodes(tree, grammar)
        names = _Names(tree, engine, catalogue)
        tables = names.resolve()
        written = _write(tree, dialect)
        again = _one_query(written, dialect)
        _check_nodes(again, grammar)
        if _write(again, dialect) != written:
            raise _refused("it can be read in two ways; write it more plainly")
    except RecursionError:
        raise _refused("it is nested too deeply") from None
    return Checked(written, tables, names.own)


def _one_query(sql: str, dialect: DialectType) -> exp.Expr:
    if "\0" in sql:
        raise _refused("it holds a character that ends texts")
    try:
        found: list[Any] = [
            one
            for one in sqlglot.parse(sql, dialect=dialect)
            # A comment behind the last semicolon is a node of its own.
            if one and not isinstance(one, exp.Semicolon)
        ]
    except SqlglotError as error:
        where = _place(error)
        raise _refused(f"it cannot be read as SQL{where}") from None
    except (ValueError, TypeError, AttributeError, KeyError, IndexError):
        # The parser's own mistakes on text that is no SQL.
        raise _refused("it cannot be read as SQL") from None
    if len(found) != 1:
        raise _refused(f"there must be exactly one statement, not {len(found)}")
    tree = found[0]
    if not isinstance(tree, _QUERIES):
        is_known = not isinstance(tree, (exp.Command, exp.Column, exp.Alias))
        what = f", and this is {_title(tree)}" if is_known else ""
        raise _refused(f"only a SELECT may run here{what}")
    return tree


def _write(tree: exp.Expr, dialect: DialectType) -> str:
    try:
        return tree.sql(
            dialect=dialect,
            comments=False,
            normalize_functions=False,
            # What cannot be said in this dialect would be left out.
            unsupported_level=ErrorLevel.RAISE,
        )
    except (SqlglotError, ValueError, TypeError, AttributeError, KeyError):
        raise _refused("it cannot be written down again") from None


def _check_nodes(tree: exp.Expr, grammar: Grammar) -> None:
    for count, node in enumerate(tree.walk()):
        if count > _NODES:
            raise _refused("it is too long")
        _check_node(node, grammar)


def _check_node(node: exp.Expr, grammar: Grammar) -> None:
    if isinstance(node, (exp.DML, exp.DDL)) and not isinstance(node, exp.Query):
        raise _refused(f"it holds a {_title(node)}, which changes data")
    if isinstance(node, exp.Anonymous):
        if node.name.lower() not in grammar.names:
            raise _unknown_function(node.name)
    elif isinstance(node, exp.Dot) and isinstance(node.expression, exp.Func):
        raise _refused("functions are written without a schema")
    elif isinstance(node, _STRINGS):
        raise _refused("texts are written in plain quotes: 'like this'")
    elif type(node) not in grammar.kinds:
        raise _unknown_kind(node)
    if isinstance(node, exp.Identifier):
        _check_name(node)
    if isinstance(node, exp.Column) and not node.table:
        _check_value(node, grammar)
    if isinstance(node, exp.DataType) and node.this not in TYPES:
        raise _refused(f"there is no conversion to {_title(node)}")
    if isinstance(node, exp.Select):
        for part, value in node.args.items():
            if value and part not in _PARTS_OF_SELECT.split():
                why = _WHY.get(type(value[0] if isinstance(value, list) else value))
                raise _refused(why or f"the part “{part}” of SELECT is not known here")


def _check_name(node: exp.Identifier) -> None:
    # Such as $1, which one parser takes for a name and another for a parameter.
    if not node.args.get("quoted") and not _PLAIN_NAME.fullmatch(node.name):
        raise _refused(f"write the name {node.name[:60]!r} in double quotes")


def _check_value(node: exp.Column, grammar: Grammar) -> None:
    # To the parser it is a column, to the engine what the session knows.
    is_quoted = isinstance(node.this, exp.Identifier) and node.this.args.get("quoted")
    if node.name.lower() in grammar.values and not is_quoted:
        raise _refused(f'write "{node.name}" in double quotes if you mean the column')


def _unknown_kind(node: exp.Expr) -> QueryRefused:
    if why := _WHY.get(type(node)):
        return _refused(why)
    if isinstance(node, exp.Func):
        return _unknown_function(node.sql_name().removeprefix("EXPLODING_"))
    return _refused(f"{_title(node)} is not allowed")


def _unknown_function(name: str) -> QueryRefused:
    return _refused(
        f"the function {name.lower()[:60]} is not among those that are known to be "
        "harmless"
    )


class _Names:
    """Table names → tables of the catalogue, written in full."""

    def __init__(self, tree: exp.Expr, engine: str, catalogue: Catalogue) -> None:
        self._tree = tree
        self._has_schemas = engine == POSTGRESQL
        self._catalogue = catalogue
        self.own = frozenset(self._own_names())

    def resolve(self) -> tuple[Table, ...]:
        found: dict[Table, None] = {}
        for node in list(self._tree.find_all(exp.Table)):
            if not isinstance(node.this, exp.Identifier):
                raise _refused("only tables can stand after FROM")
            if node.catalog:
                raise _refused("tables are named by schema and name at most")
            if not node.db and node.name.lower() in self.own:
                continue
            table = self._table(node)
            found[table] = None
            self._write(node, table)
        return tuple(found)

    def _own_names(self) -> Iterator[str]:
        """Of the query's WITH; none may be that of a table, whose place it took."""
        for cte in self._tree.find_all(exp.CTE):
            name = cte.alias.lower()
            if name in self._catalogue.names or name.startswith(("pg_", "sqlite_")):
                raise _refused(f"there is a table “{name}”: give the WITH another name")
            yield name

    def _table(self, node: exp.Table) -> Table:
        name, schema = self._plain(node.this), ""
        if node.db:
            schema = self._plain(node.args["db"])
        if not self._has_schemas:
            if schema.lower() not in ("", "main"):
                raise _refused(f"there is no database “{schema}”")
            schema = ""
        found = self._catalogue.find(name, schema, any_case=not self._has_schemas)
        if len(found) > 1:
            found = [table for table in found if table.schema == "public"] or found
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(table.full for table in found)
            raise _refused(f"“{name}” may be any of {names}: name its schema")
        raise _refused(f"there is no table “{node.sql()[:80]}”. {self._offer()}")

    def _offer(self) -> str:
        names = [table.shown for table in self._catalogue.tables]
        more = f" and {len(names) - 40} more" if len(names) > 40 else ""
        return f"Tables: {', '.join(names[:40]) or 'none'}{more}"

    def _plain(self, name: exp.Expr) -> str:
        text = name.name
        is_folded = self._has_schemas and not name.args.get("quoted")
        return text.lower() if is_folded else text

    def _write(self, node: exp.Table, table: Table) -> None:
        # Columns may be written with the table's name in any case.
        node.set("this", _identifier(table.name, node.this))
        node.set("db", _identifier(table.schema) if self._has_schemas else None)


def _identifier(name: str, like: exp.Expr | None = None) -> exp.Identifier:
    is_plain = name.isascii() and name.isidentifier() and name == name.lower()
    was_quoted = like is not None and bool(like.args.get("quoted"))
    return exp.Identifier(this=name, quoted=was_quoted or not is_plain)


def _title(node: exp.Expr) -> str:
    return str(node.key).upper()


def _place(error: SqlglotError) -> str:
    details = getattr(error, "errors", None)
    if not details or details[0].get("line") is None:
        return ""
    return f" (line {details[0]['line']}, column {details[0]['col']})"


def _refused(reason: str) -> QueryRefused:
    return QueryRefused(f"The query was not run: {reason}.")
