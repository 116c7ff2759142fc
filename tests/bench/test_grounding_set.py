"""The question set for grounded answers is fixed, and split by document."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

SET = Path(__file__).parents[2] / "bench" / "grounding"


@pytest.fixture(scope="module")
def questions() -> list[dict[str, Any]]:
    lines = (SET / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_no_question_and_no_document_has_changed_since_the_set_was_frozen() -> None:
    frozen = dict(reversed(line.split("  ", 1)) for line in _lines(SET / "FROZEN"))

    files = [SET / "questions.jsonl", *(SET / "collections").rglob("*.*")]
    found = {
        file.relative_to(SET).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
        if file.is_file()
    }

    assert found == frozen


def test_no_document_has_questions_in_both_splits(
    questions: list[dict[str, Any]],
) -> None:
    splits: dict[str, set[str]] = {}
    for question in questions:
        for document in question["documents"]:
            splits.setdefault(document, set()).add(question["split"])

    assert {name for name, seen in splits.items() if len(seen) > 1} == set()


def test_every_question_names_documents_of_its_own_collections(
    questions: list[dict[str, Any]],
) -> None:
    for question in questions:
        readable = {
            file.name
            for name in question["collections"]
            for file in (SET / "collections" / name).iterdir()
        }

        assert set(question["documents"]) <= readable, question["id"]
        assert question["answerable"] == bool(question["facts"]), question["id"]


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()
