"""Questions about a database that the rules have never seen, answered from its rows."""

import asyncio
import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from chat.agent.citations import Registry
from chat.agent.tool_results import result_of
from chat.agent.tools.data import DESCRIBE_DATA, QUERY_DATA
from chat.agent.tools.kit import Kit
from chat.datasources.models import DataSource
from chat.datasources.service import Sources
from copilot_site.lib.errors import UserFacingError
from llmconfig.offline.data_phrases import PHRASES
from llmconfig.offline.decide import decide
from llmconfig.offline.steps import Answer

TOOLS = {tool.name: tool for tool in (DESCRIBE_DATA, QUERY_DATA)}
LIBRARY = """
CREATE TABLE genres (id INTEGER PRIMARY KEY, title TEXT);
CREATE TABLE books (
    id INTEGER PRIMARY KEY, title TEXT, genre_id INTEGER REFERENCES genres (id),
    pages INTEGER, price REAL
);
CREATE TABLE branches (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE copies (
    book_id INTEGER REFERENCES books (id),
    branch_id INTEGER REFERENCES branches (id), amount INTEGER
);
CREATE TABLE loans (
    id INTEGER PRIMARY KEY, book_id INTEGER REFERENCES books (id), reader TEXT
);
INSERT INTO genres VALUES (1, 'Novel'), (2, 'Atlas');
INSERT INTO books VALUES (1, 'The Sea', 1, 320, 12.5), (2, 'Roads', 2, 90, 49),
    (3, 'A | B [9](http://x)', 1, 510, 20);
INSERT INTO branches VALUES (1, 'North'), (2, 'Old Town');
INSERT INTO copies VALUES (1, 1, 4), (1, 2, 2), (2, 2, 1), (3, 1, 8);
INSERT INTO loans VALUES (1, 1, 'Ada'), (2, 1, 'Bo'), (3, 2, 'Ada'), (4, 3, 'Ada');
"""


@pytest.fixture
def ask(tmp_path: Path) -> Callable[[str], str]:
    path = tmp_path / "library.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(LIBRARY)
    connection.close()
    source = DataSource(
        pk=77, slug="library", title="Library", url=f"sqlite:///{path}",
        engine="sqlite", updated_at=timezone.now(),
    )  # fmt: skip
    return lambda question: asyncio.run(_conversation(question, source))


async def _conversation(question: str, source: DataSource) -> str:
    kit, registry = Kit(data=Sources([source])), Registry()
    messages: list[BaseMessage] = [HumanMessage(question)]
    for turn in range(6):
        step = decide(messages, frozenset(TOOLS))
        if isinstance(step, Answer):
            return step.text
        calls = [
            {"id": f"{turn}.{n}", "name": call.tool, "args": dict(call.arguments)}
            for n, call in enumerate(step.calls)
        ]
        messages.append(AIMessage("", tool_calls=calls))
        for call in calls:
            messages.append(await _result(call, kit, registry))
    raise AssertionError("it never answers")


async def _result(call: dict[str, Any], kit: Kit, registry: Registry) -> ToolMessage:
    tool, status = TOOLS[call["name"]], "success"
    try:
        value = await tool.call(call["args"], kit)
        output = result_of(tool, value, registry, 20_000).output
    except UserFacingError as error:
        output, status = json.dumps({"error": str(error)}), "error"
    return ToolMessage(
        output, tool_call_id=call["id"], name=call["name"], status=status
    )


@pytest.mark.parametrize(
    ("question", "finding"),
    [
        ("How many books are there?", "Number: 3 ["),
        ("How many novels are there?", "Number for “novel”: 2 ["),
        ("How many novels are in Old Town?", "“novel”, “old town”: 2 ["),
        ("How many copies are in North?", "Total amount for “north”: 12 ["),
        ("What is the average price of novels?", "“novel”: 16.25 ["),
        ("Total amount per branch", "North leads with 12 ["),
        ("average price per genre", "Atlas leads with 49.00 ["),
        ("Top 2 readers by number of loans", "Ada leads with 3 ["),
        ("Which book has the fewest copies?", "Roads has the least: 1 ["),
        ("loans per reader", "Ada leads with 3 ["),
        ("Wie viele Bücher gibt es?", "Ich finde “bücher” nicht"),
        ("Which books are in Old Town?", "2 rows for “old town”"),
    ],
)
def test_the_finding_comes_first_with_its_mark(
    ask: Callable[[str], str], question: str, finding: str
) -> None:
    answer = ask(question)

    assert finding in answer.splitlines()[0]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which books cost more than 15?", ["Roads", "A \\| B"]),
        ("Which books cost at most 20?", ["A \\| B", "The Sea"]),
        ("books with fewer than 400 pages", ["The Sea", "Roads"]),
        ("Top 2 books by price", ["Roads", "A \\| B"]),
        ("the cheapest books", ["The Sea", "A \\| B", "Roads"]),
    ],
)
def test_rows_stand_in_order_each_with_its_mark(
    ask: Callable[[str], str], question: str, names: list[str]
) -> None:
    rows = [line for line in ask(question).splitlines() if line.startswith("| ")][1:]

    assert len(rows) == len(names)
    for row, name in zip(rows, names, strict=True):
        assert name in row
        assert re.search(r"\| \[\d+\] \|$", row)


def test_the_query_is_told(ask: Callable[[str], str]) -> None:
    assert "SELECT COUNT(*) AS number FROM books" in ask("How many books are there?")


def test_a_sum_never_takes_a_row_twice(ask: Callable[[str], str]) -> None:
    answer = ask("Total price per reader")

    assert "no way" in answer


def test_a_row_cannot_become_a_mark_or_a_link(ask: Callable[[str], str]) -> None:
    answer = ask("Which books cost more than 15?")

    assert "[9](" not in answer
    assert "\\[9\\]" in answer


def test_what_cannot_be_asked_is_said_plainly(ask: Callable[[str], str]) -> None:
    answer = ask("Why do people like reading?")

    assert "cannot turn that into a query" in answer
    assert "copies" in answer


def test_a_word_that_stands_nowhere_is_named(ask: Callable[[str], str]) -> None:
    assert "no “unicorn”" in ask("How many unicorns are in copies?")


def test_the_data_is_described(ask: Callable[[str], str]) -> None:
    answer = ask("Which data is there?")

    assert "- books: id, title, genre\\_id, pages, price" in answer


def test_rows_of_all_tables_are_counted(ask: Callable[[str], str]) -> None:
    assert "| loans | 4 |" in ask("How many rows does each table have?")


def test_quotes_in_a_question_stay_text(ask: Callable[[str], str]) -> None:
    answer = ask("How many books has O'Neil'); DROP TABLE books; --?")

    assert "find no" in answer or "cannot" in answer
    assert "Number: 3" in ask("How many books are there?")


def test_each_language_says_everything() -> None:
    keys = [set(phrases) for phrases in PHRASES.values()]

    assert keys[0] == keys[1] == keys[2]
