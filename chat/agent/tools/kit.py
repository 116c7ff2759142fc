"""What a run lends its tools: the lab, and the site's sources of evidence."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, Protocol, TypeVar

from chat.agent.tools.lab import Lab

PassageKind = Literal["document", "record", "row", "web", "device", "memory"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text that an answer may cite, and what a person needs to check it.

    `id` is stable: the same text from the same source has the same one.
    """

    id: str
    kind: PassageKind
    title: str
    text: str
    location: str = ""
    url: str = ""
    time: str = ""
    # How far in front it was found; 1.0: first by words and by meaning.
    score: float = 0.0
    # Cosine to the question (0 without embeddings), and the share of its words.
    similarity: float = 0.0
    coverage: float = 0.0

    def as_citation(self, number: int) -> dict[str, Any]:
        """As events and stored messages hold it; `[number]` in the text points here."""
        return {
            "n": number,
            "id": self.id,
            "kind": self.kind,
            "title": self.title,
            "location": self.location,
            "url": self.url,
            "time": self.time,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class Evidence:
    """A tool's result with the passages in it; facts are context, never citable.

    `changed`: devices, and since when earlier output of theirs may no longer hold.
    """

    value: Any
    passages: Sequence[Passage] = ()
    facts: Sequence[str] = ()
    changed: Mapping[str, str] = field(default_factory=dict)


def now(devices: Iterable[str]) -> dict[str, str]:
    """These devices have changed now."""
    return dict.fromkeys(devices, datetime.now(UTC).isoformat())


class Knowledge(Protocol):
    """The document collections that the person may read."""

    async def search(self, query: str, *, limit: int = 8) -> list[Passage]: ...


@dataclass(frozen=True, slots=True)
class OwnKind:
    """A kind of record that an operator has defined, and what people call it."""

    slug: str
    names: Sequence[str]


class Directory(Protocol):
    """The site's structured records, by kind."""

    async def own_kinds(self) -> Sequence[OwnKind]: ...

    async def lookup(
        self,
        kind: str,
        *,
        text: str = "",
        fields: dict[str, str] | None = None,
        weekday: str = "",
        time: str = "",
        limit: int = 20,
    ) -> Evidence: ...


class Memory(Protocol):
    """What this person asked the copilot to keep."""

    async def remember(self, text: str, *, only_here: bool = False) -> str: ...

    async def recall(self, query: str, *, limit: int = 8) -> list[Passage]: ...

    async def forget(self, query: str) -> int: ...


class DataSources(Protocol):
    """The SQL databases that the profile allows."""

    def names(self) -> Sequence[str]: ...

    async def describe(self, source: str) -> dict[str, Any]: ...

    async def schema(self, source: str) -> str: ...

    async def query(self, source: str, sql: str) -> Evidence: ...


class WebSearch(Protocol):
    """A provider of web search, by name; `options` are the profile's."""

    @property
    def provider(self) -> str: ...

    async def search(
        self, query: str, *, limit: int = 5, options: Mapping[str, Any] | None = None
    ) -> list[Passage]: ...


class Documents(Protocol):
    """Files that the person attached to this conversation."""

    async def listing(self) -> list[dict[str, Any]]: ...

    async def read(
        self, document: str, *, start: int = 0, length: int = 8_000
    ) -> Evidence: ...


def tell_nobody(text: str) -> None:
    pass


@dataclass(frozen=True)
class Kit:
    """None stands for what this run has not; such tools are not offered.

    Carries credentials: kept in a ContextVar while a run lasts.
    """

    lab: Lab | None = None
    knowledge: Knowledge | None = None
    directory: Directory | None = None
    memory: Memory | None = None
    data: DataSources | None = None
    web: WebSearch | None = None
    documents: Documents | None = None
    # By tool: what the profile sets.
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # Shows a line of progress to whoever follows; never part of the answer.
    say: Callable[[str], None] = field(default=tell_nobody)


NOTHING = Kit()

_Arguments = TypeVar("_Arguments")


def in_lab(
    run: Callable[[_Arguments, Lab], Awaitable[Any]],
) -> Callable[[_Arguments, Kit], Awaitable[Any]]:
    """For tools that need nothing but the lab."""

    async def with_lab(arguments: _Arguments, kit: Kit) -> Any:
        # Tools that need a lab are not offered without one.
        assert kit.lab is not None
        return await run(arguments, kit.lab)

    return with_lab
