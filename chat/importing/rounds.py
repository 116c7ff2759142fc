"""Turns → rounds that any provider takes back: each call followed by its result."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from chat.importing.turns import Call, Turn, turn_of

CLOSED = "Cancelled: the source holds no result of this call."
_ID_LENGTH = 255


@dataclass
class Exchange:
    """A turn, and the results of its calls in the calls' order."""

    turn: Turn
    results: list[tuple[Call, Turn | None]] = field(default_factory=list)


@dataclass
class Round:
    """A user's message and all that follows until the next."""

    number: int
    exchanges: list[Exchange] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """It ends with an answer."""
        last = self.exchanges[-1]
        return last.turn.role == "assistant" and not last.results


@dataclass
class Conversation:
    """All that is kept of a thread, and how much is not."""

    rounds: list[Round] = field(default_factory=list)
    left_out: int = 0
    orphans: int = 0
    closed: int = 0

    @property
    def turns(self) -> Iterable[Turn]:
        for one in self.rounds:
            for exchange in one.exchanges:
                yield exchange.turn


def conversation_of(messages: Iterable[Any], *, started: datetime) -> Conversation:
    """A user's message opens a round; what precedes the first is round 1 as well."""
    found = Conversation()
    open_calls: dict[str, tuple[Exchange, int]] = {}
    latest = started
    for position, message in enumerate(messages):
        turn = turn_of(position, message)
        if turn is None:
            found.left_out += 1
            continue
        turn.created_at = latest = turn.created_at or latest
        if turn.role == "tool":
            place = open_calls.pop(turn.tool_call_id, None)
            if place is None:
                found.orphans += 1
            else:
                exchange, number = place
                call, _ = exchange.results[number]
                exchange.results[number] = (call, turn)
            continue
        # A result after another turn would come too late for any provider.
        open_calls.clear()
        exchange = Exchange(turn)
        _give_ids(turn)
        for number, call in enumerate(turn.calls):
            exchange.results.append((call, None))
            open_calls[call.call_id] = (exchange, number)
        if turn.role == "user" or not found.rounds:
            found.rounds.append(Round(len(found.rounds) + 1))
        found.rounds[-1].exchanges.append(exchange)
    found.closed = sum(
        result is None
        for one in found.rounds
        for exchange in one.exchanges
        for _, result in exchange.results
    )
    return found


def _give_ids(turn: Turn) -> None:
    """Every call of a message has an id of its own, short enough to store."""
    used: set[str] = set()
    for number, call in enumerate(turn.calls):
        if not call.call_id or call.call_id in used:
            call.call_id = f"call_{turn.position}_{number}"
        used.add(call.call_id)


def short(text: str) -> str:
    """As much as the column holds."""
    return text[:_ID_LENGTH]
