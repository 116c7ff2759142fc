"""What of a conversation is sent to a model, so that it fits into its context.

Left out first are whole earlier rounds, oldest first. Only where the current round
alone is too large, its texts lose their middles, and at the very last its oldest steps.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from llmconfig.deltas import text_of
from llmconfig.shortening import shorten
from llmconfig.tokens import estimate, estimate_message, estimate_tools

Strategy = Literal["conservative", "balanced", "aggressive"]
SHARES: dict[Strategy, float] = {
    "conservative": 0.60,
    "balanced": 0.75,
    "aggressive": 0.85,
}
# Tokens that a shortened text keeps: while there are other ways, and at least.
_FLOORS = (200, 40)
_GO_ON = "Go on."


@dataclass(frozen=True)
class Window:
    """The messages to send and what they cost, in estimated tokens."""

    messages: list[AnyMessage]
    used: int
    budget: int
    limit: int
    dropped_rounds: int = 0
    dropped_steps: int = 0
    shortened: int = 0
    overflow: bool = False


class Fit(Protocol):
    """Makes messages fit; `share` below 1 leaves out more."""

    def __call__(
        self,
        messages: Sequence[AnyMessage],
        tools: Sequence[dict[str, Any]],
        share: float = 1.0,
    ) -> Window: ...


def unlimited(
    messages: Sequence[AnyMessage],
    tools: Sequence[dict[str, Any]],
    share: float = 1.0,
) -> Window:
    """For a model that reads everything."""
    return Window(list(messages), used=0, budget=0, limit=0)


def fit(
    messages: Sequence[AnyMessage],
    *,
    limit: int,
    strategy: Strategy = "balanced",
    tools: Sequence[dict[str, Any]] = (),
    reserve: int = 0,
    sends_reasoning: bool = False,
) -> Window:
    """`overflow`: the system prompt leaves no room even for a shortened question."""

    def cost(message: AnyMessage) -> int:
        return estimate_message(message, sends_reasoning=sends_reasoning)

    budget = int(limit * SHARES[strategy]) - estimate_tools(tools) - reserve
    system, rest = _prompt_and_rest(messages)
    rounds = _rounds(rest)
    rounds[-1] = _ready_to_answer(rounds[-1])
    room = budget - (cost(system) if system else 0)

    # What the newest 1, 2, 3 … rounds cost, as far as it matters.
    sums: list[int] = []
    for round_ in reversed(rounds):
        sums.append((sums[-1] if sums else 0) + sum(map(cost, round_)))
        if sums[-1] > room:
            break
    else:
        return _window(Window([], 0, budget, limit), system, rounds, cost)

    if system:
        room -= estimate(_note(len(rounds), len(rounds[-1])))
    kept = sum(total <= room for total in sums)
    dropped = len(rounds) - max(kept, 1)
    result = Window([], 0, budget, limit, dropped_rounds=dropped)
    if kept:
        return _window(result, system, rounds[-kept:], cost)
    tight = _Tight(rounds[-1], room, sends_reasoning)
    tight.squeeze()
    result = replace(
        result, dropped_steps=tight.dropped_steps, shortened=sum(tight.is_shortened)
    )
    return _window(result, system, [tight.messages], cost)


def _window(
    result: Window,
    system: SystemMessage | None,
    rounds: Iterable[Sequence[AnyMessage]],
    cost: Callable[[AnyMessage], int],
) -> Window:
    messages: list[AnyMessage] = [message for round_ in rounds for message in round_]
    if system:
        note = _note(result.dropped_rounds, result.dropped_steps)
        messages.insert(0, _with_text(system, note + text_of(system.content)))
    used = sum(map(cost, messages))
    # Copies: what the caller does to them must not change the conversation.
    copies = [message.model_copy() for message in messages]
    return replace(result, messages=copies, used=used, overflow=used > result.budget)


def _note(rounds: int, steps: int) -> str:
    """For the model; nothing when all is there."""
    note = f"[Earlier rounds that are left out: {rounds}.]\n" if rounds else ""
    if steps:
        note += f"[Earlier steps of this round that are left out: {steps}.]\n"
    return note


# --- The parts of a conversation --------------------------------------------------


def _prompt_and_rest(
    messages: Sequence[AnyMessage],
) -> tuple[SystemMessage | None, list[AnyMessage]]:
    """Without results whose call is not right before them: servers refuse those."""
    system: SystemMessage | None = None
    rest: list[AnyMessage] = []
    open_ids: list[str | None] = []
    for message in messages:
        match message:
            case ToolMessage():
                if message.tool_call_id not in open_ids:
                    continue
                open_ids.remove(message.tool_call_id)
            case AIMessage():
                open_ids = [call["id"] for call in message.tool_calls]
            case SystemMessage() if system is None:
                system = message
                continue
            case _:
                open_ids = []
        rest.append(message)
    return system, rest


def _rounds(messages: Iterable[AnyMessage]) -> list[list[AnyMessage]]:
    """Each from one question up to the next; what precedes the first is one too."""
    rounds: list[list[AnyMessage]] = []
    for message in messages:
        if isinstance(message, HumanMessage) or not rounds:
            rounds.append([])
        rounds[-1].append(message)
    return rounds or [[]]


def _ready_to_answer(current: list[AnyMessage]) -> list[AnyMessage]:
    if current and isinstance(current[-1], HumanMessage | ToolMessage):
        return current
    return [*current, HumanMessage(_GO_ON)]


def _with_text(message: Any, text: str) -> Any:
    return message.model_copy(update={"content": text})


# --- A round that is too large by itself ------------------------------------------


class _Tight:
    """The current round while it is made to fit, step by step."""

    def __init__(
        self, messages: Sequence[AnyMessage], room: int, sends_reasoning: bool
    ) -> None:
        self.messages = list(messages)
        self.is_shortened = [False] * len(messages)
        self.dropped_steps = 0
        self._room = room
        self._sends_reasoning = sends_reasoning
        self._costs = [self._cost(message) for message in messages]

    def squeeze(self) -> None:
        """Old results, new ones, the question; then steps; then the same, harder."""
        usual, least = _FLOORS
        self._shorten_earlier(usual)
        self._shorten_newest(usual)
        self._shorten_question(usual)
        while self._excess() > 0 and self._drop_oldest_step(keeps_last=True):
            pass
        self._shorten_newest(least)
        self._shorten_question(least)
        while self._excess() > 0 and self._drop_oldest_step(keeps_last=False):
            pass
        self._shorten_question(0)

    def _cost(self, message: AnyMessage) -> int:
        return estimate_message(message, sends_reasoning=self._sends_reasoning)

    def _excess(self) -> int:
        return sum(self._costs) - self._room

    def _texts(self, indexes: Iterable[int]) -> dict[int, int]:
        """What the text alone of these messages costs."""
        return {i: estimate(text_of(self.messages[i].content)) for i in indexes}

    def _results(self, *, newest: bool) -> list[int]:
        last_call = max(
            (i for i, m in enumerate(self.messages) if isinstance(m, AIMessage)),
            default=0,
        )
        return [
            i
            for i, message in enumerate(self.messages)
            if isinstance(message, ToolMessage) and (i > last_call) == newest
        ]

    def _shorten_earlier(self, floor: int) -> None:
        for i, tokens in self._texts(self._results(newest=False)).items():
            if self._excess() <= 0:
                return
            self._shorten(i, max(floor, tokens - self._excess()), is_result=True)

    def _shorten_newest(self, floor: int) -> None:
        """All to one level: none is worth more than another."""
        texts = self._texts(self._results(newest=True))
        excess = self._excess()
        if excess <= 0 or not texts:
            return
        left, level = sum(texts.values()) - excess, 0
        for number, tokens in enumerate(sorted(texts.values())):
            level = left // (len(texts) - number)
            if tokens > level:
                break
            left -= tokens
        for i in texts:
            self._shorten(i, max(floor, level), is_result=True)

    def _shorten_question(self, floor: int) -> None:
        if self._excess() > 0 and isinstance(self.messages[0], HumanMessage):
            tokens = self._texts([0])[0]
            target = max(floor, tokens - self._excess())
            self._shorten(0, target, is_result=False)

    def _shorten(self, index: int, tokens: int, *, is_result: bool) -> None:
        message = self.messages[index]
        text = text_of(message.content)
        shorter = shorten(text, tokens, can_run_again=is_result)
        if shorter != text:
            self.messages[index] = _with_text(message, shorter)
            self._costs[index] = self._cost(self.messages[index])
            self.is_shortened[index] = True

    def _drop_oldest_step(self, *, keeps_last: bool) -> bool:
        """A message behind the question, with its results; False if none may go."""
        start = 1 if isinstance(self.messages[0], HumanMessage) else 0
        ends = [
            i
            for i in range(start + 1, len(self.messages))
            if not isinstance(self.messages[i], ToolMessage)
        ]
        if len(self.messages) <= start or (keeps_last and not ends):
            return False
        end = ends[0] if ends else len(self.messages)
        if start == 0 and end == len(self.messages):
            return False
        del self.messages[start:end], self._costs[start:end]
        del self.is_shortened[start:end]
        self.dropped_steps += 1
        return True
