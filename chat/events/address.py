"""Where a run's events live: the log's key, the group's name, the cursor's form."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from chat.models import Run


@dataclass(frozen=True, slots=True)
class RunAddress:
    """A run, as its events name it."""

    run_id: str
    session_id: str
    round: int

    @classmethod
    def of(cls, run: "Run") -> Self:
        return cls(str(run.pk), run.session.thread_id, run.round)

    @property
    def key(self) -> str:
        return f"copilot:log:{self.run_id.replace('-', '')}"

    @property
    def group(self) -> str:
        return f"run.{self.run_id.replace('-', '')}"

    def head(self) -> dict[str, object]:
        return {
            "session_id": self.session_id,
            "run_id": self.run_id,
            "round": self.round,
        }


def user_group(user_id: int) -> str:
    """The user's own channel."""
    return f"user.{user_id}"


@dataclass(frozen=True, slots=True)
class Cursor:
    """`<round>.<seq>`: the last event a follower has seen."""

    round: int
    seq: int

    @classmethod
    def parse(cls, text: str | None) -> Self | None:
        """None for anything that is not a cursor."""
        head, dot, tail = (text or "").partition(".")
        if not (dot and head.isascii() and head.isdigit()):
            return None
        if not (tail.isascii() and tail.isdigit()) or len(head) + len(tail) > 30:
            return None
        return cls(int(head), int(tail))

    def within(self, round: int) -> int:
        """The number to go on from; another round's cursor means from the start."""
        return self.seq if self.round == round else 0

    def __str__(self) -> str:
        return f"{self.round}.{self.seq}"
