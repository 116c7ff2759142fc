"""The passages that a run may cite, each with its number."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from chat.agent.citing import marked
from chat.agent.tools.kit import Passage


class Registry:
    """Of one run; the same passage found twice has one number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._citations: dict[int, dict[str, Any]] = {}

    def add(self, passage: Passage) -> int:
        number = self._numbers.get(passage.id)
        if number is None:
            number = max(self._citations, default=0) + 1
            self._numbers[passage.id] = number
            self._citations[number] = passage.as_citation(number)
        return number

    def restore(self, stored: Iterable[Mapping[str, Any]]) -> None:
        """From the evidence of calls that an earlier attempt has finished."""
        for evidence in stored:
            for citation in evidence.get("passages", ()):
                number = int(citation["n"])
                self._numbers[citation["id"]] = number
                self._citations[number] = {**citation}

    @property
    def numbers(self) -> Sequence[int]:
        return list(self._citations)

    def citations(self, numbers: Iterable[int]) -> list[dict[str, Any]]:
        """Those that exist, in the order of their numbers."""
        return [
            self._citations[number]
            for number in sorted(set(numbers))
            if number in self._citations
        ]

    def cited_in(self, text: str) -> list[dict[str, Any]]:
        """What a text points to, and nothing else."""
        return self.citations(marked(text))
