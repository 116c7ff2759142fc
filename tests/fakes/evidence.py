"""Sources of evidence that say what a test tells them to say."""

import asyncio
from collections.abc import Sequence
from typing import Any

from chat.agent.tools.kit import Evidence, OwnKind, Passage
from copilot_site.lib.errors import UserFacingError


class SourceDown(UserFacingError):
    code = "source_down"


def document(
    text: str, title: str = "Handbook", *, number: int = 1, **fields: Any
) -> Passage:
    return Passage(
        f"passage:{number}",
        "document",
        title,
        text,
        location=fields.pop("location", f"page {number}"),
        url=f"knowledge/?passage={number}",
        **fields,
    )


def record(text: str, title: str, *, number: int = 1) -> Passage:
    return Passage(f"record:{number}", "record", title, text, location="Courses")


class FakeKnowledge:
    """Every search finds the same; `is_down` makes it fail."""

    def __init__(self, *passages: Passage) -> None:
        self.passages = list(passages)
        self.queries: list[str] = []
        self.is_down = False
        self.hold: asyncio.Event | None = None
        self.running = self.most_running = 0

    async def search(self, query: str, *, limit: int = 8) -> list[Passage]:
        self.queries.append(query)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            if self.hold is not None:
                await self.hold.wait()
            await asyncio.sleep(0)
            if self.is_down:
                raise SourceDown("The documents cannot be searched now.")
            return self.passages[:limit]
        finally:
            self.running -= 1


class FakeDirectory:
    """Records by kind, whatever is asked for."""

    def __init__(self, **kinds: Sequence[Passage]) -> None:
        self.kinds = kinds
        self.facts: list[str] = []
        self.asked: list[tuple[str, str, str, str]] = []
        self.is_down = False
        self.own: list[OwnKind] = []

    async def own_kinds(self) -> list[OwnKind]:
        return self.own

    async def lookup(
        self,
        kind: str,
        *,
        text: str = "",
        fields: dict[str, str] | None = None,
        weekday: str = "",
        time: str = "",
        limit: int = 20,
    ) -> Evidence:
        self.asked.append((kind, text, weekday, time))
        if self.is_down:
            raise SourceDown("The directory cannot be read now.")
        found = list(self.kinds.get(kind, ()))[:limit]
        value = {"records": [{"id": one.id, "text": one.text} for one in found]}
        return Evidence(value, found, self.facts)


class FakeMemory:
    def __init__(self) -> None:
        self.notes: list[str] = []

    async def remember(self, text: str, *, only_here: bool = False) -> str:
        self.notes.append(text)
        return text

    async def recall(self, query: str, *, limit: int = 8) -> list[Passage]:
        return [
            Passage(f"memory:{number}", "memory", "What you told me", text)
            for number, text in enumerate(self.notes)
        ]

    async def forget(self, query: str) -> int:
        count = len(self.notes)
        self.notes.clear()
        return count
