"""What a person is shown before a call changes something."""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from chat.agent.tools.kit import Kit

_Arguments = TypeVar("_Arguments")


@dataclass(frozen=True)
class Shown:
    """A change in words and lines, and the state that it would start from.

    `state` holds a hash for each part that the change is bound to; an empty one where
    the part could not be read. `refusal` says why nothing of it would run.
    """

    summary: str
    devices: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    state: dict[str, str] = field(default_factory=dict)
    refusal: str = ""

    def as_json(self) -> dict[str, Any]:
        return {"summary": self.summary, "devices": self.devices, "notes": self.notes}


@dataclass(frozen=True)
class Preview(Generic[_Arguments]):
    """How a tool shows what a call would change, and takes a person's edit of it.

    `look` only reads. `edit` gives the proposal for edited arguments, or raises
    ToolFailed where they may not run.
    """

    look: Callable[[_Arguments, Kit], Awaitable[Shown]]
    edit: Callable[[_Arguments, dict[str, Any]], dict[str, Any]]


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
