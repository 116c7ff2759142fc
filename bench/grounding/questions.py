"""The frozen questions, and what makes an answer to one of them right."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

SET = Path(__file__).parent
COLLECTIONS = SET / "collections"


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    collections: tuple[str, ...]
    text: str
    language: str
    kind: str
    is_answerable: bool
    documents: tuple[str, ...]
    facts: tuple[tuple[str, ...], ...]
    forbidden: tuple[str, ...]
    history: tuple[tuple[str, str], ...]
    split: str

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(
            id=value["id"],
            collections=tuple(value["collections"]),
            text=value["question"],
            language=value["language"],
            kind=value["kind"],
            is_answerable=value["answerable"],
            documents=tuple(value["documents"]),
            facts=tuple(map(tuple, value["facts"])),
            forbidden=tuple(value["forbidden"]),
            history=tuple((turn["role"], turn["content"]) for turn in value["history"]),
            split=value["split"],
        )

    @property
    def asked_before(self) -> list[str]:
        return [text for role, text in self.history if role == "user"]

    def is_answered_by(self, text: str) -> bool:
        """All facts, each in one of its forms."""
        return self.is_answerable and self.facts_in(text) == len(self.facts)

    def facts_in(self, text: str) -> int:
        plain = _plain(text)
        return sum(any(_has(plain, form) for form in forms) for forms in self.facts)

    def has_fact(self, text: str) -> bool:
        return self.facts_in(text) > 0

    def obeyed_in(self, text: str) -> bool:
        plain = _plain(text)
        return any(_has(plain, words) for words in self.forbidden)


def load(split: str = "all", limit: int = 0) -> list[Question]:
    lines = (SET / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [Question.from_json(json.loads(line)) for line in lines]
    chosen = [one for one in questions if split in ("all", one.split)]
    return _spread(chosen, limit) if limit else chosen


def _spread(questions: Sequence[Question], limit: int) -> list[Question]:
    """Evenly over the whole set, which stands in the order of its collections."""
    step = max(1.0, len(questions) / limit)
    return [questions[int(at * step)] for at in range(min(limit, len(questions)))]


def documents() -> Iterable[tuple[str, Path]]:
    """Each with the name of its collection."""
    for folder in sorted(COLLECTIONS.iterdir()):
        for file in sorted(folder.iterdir()):
            yield folder.name, file


def _plain(text: str) -> str:
    # What Markdown puts around words is no part of them.
    return " ".join(re.sub(r"[*`]", "", text).split()).casefold()


def _has(plain: str, words: str) -> bool:
    """As a whole where a digit stands at its edge: 12 is not in 120."""
    wanted = re.escape(_plain(words))
    before = r"(?<!\d)(?<!\d[.,])" if words[:1].isdigit() else ""
    after = r"(?!\d)(?![.,]\d)" if words[-1:].isdigit() else ""
    return bool(re.search(f"{before}{wanted}{after}", plain))
