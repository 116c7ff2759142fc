"""Rounds of the source → rows, with ids that are the same at every import."""

import uuid
from dataclasses import dataclass, field
from datetime import datetime

from chat.importing.rounds import CLOSED, Conversation, Exchange, Round, short
from chat.importing.turns import Call, Turn
from chat.models import ChatSession, Message, Run, ToolCall
from chat.models.run import Status

_SOURCE = {"imported": "gns3"}


@dataclass
class Rows:
    """What a conversation becomes, in order."""

    runs: list[Run] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)


def rows_of(session: ChatSession, conversation: Conversation) -> Rows:
    maker = _Maker(session)
    for one in conversation.rounds:
        maker.add_round(one)
    return maker.rows


class _Maker:
    def __init__(self, session: ChatSession) -> None:
        self.rows = Rows()
        self._session = session
        self._space = uuid.UUID(session.thread_id)
        self._used: set[uuid.UUID] = set()
        self._last: Message | None = None
        self._sequence = 0

    def add_round(self, one: Round) -> None:
        turns = [exchange.turn for exchange in one.exchanges]
        answers = [turn for turn in turns if turn.role == "assistant"]
        first, last = _time(turns[0]), _time(turns[-1])
        run = Run(
            id=uuid.uuid5(self._space, f"run {one.number}"),
            session=self._session,
            round=one.number,
            status=Status.SUCCEEDED if one.is_complete else Status.STOPPED,
            reason="" if one.is_complete else "imported_unfinished",
            message_count=sum(
                bool(turn.content or turn.calls) or turn.role == "user"
                for turn in turns
            )
            + sum(len(exchange.results) for exchange in one.exchanges),
            llm_calls_count=len(answers),
            input_tokens=_sum([turn.input_tokens for turn in answers]),
            output_tokens=_sum([turn.output_tokens for turn in answers]),
            created_at=first,
            started_at=first,
            finished_at=last,
        )
        self.rows.runs.append(run)
        self._sequence = 0
        for exchange in one.exchanges:
            self._add_exchange(run, exchange)

    def _add_exchange(self, run: Run, exchange: Exchange) -> None:
        turn = exchange.turn
        message = self._add_message(run, turn, self._id_of(turn))
        for position, (call, result) in enumerate(exchange.results):
            if result is None:
                key = uuid.uuid5(self._space, f"closed {turn.position}.{position}")
                result = Turn(turn.position, "", "tool", CLOSED)
                result.created_at = turn.created_at
                answer = self._add_message(run, result, key)
                answer.metadata = {**_SOURCE, "cancelled": True}
                status = ToolCall.Status.CANCELLED
            else:
                answer = self._add_message(run, result, self._id_of(result))
                status = _status_of(call, result)
            answer.name, answer.tool_call_id = short(call.name), short(call.call_id)
            self.rows.calls.append(
                ToolCall(
                    id=uuid.uuid5(self._space, f"call {turn.position}.{position}"),
                    run=run,
                    message=message,
                    result=answer,
                    call_id=short(call.call_id),
                    position=position,
                    name=short(call.name),
                    arguments=call.arguments,
                    status=status,
                    created_at=message.created_at,
                    finished_at=answer.created_at,
                )
            )

    def _add_message(self, run: Run, turn: Turn, key: uuid.UUID) -> Message:
        self._sequence += 1
        message = Message(
            id=key,
            session=self._session,
            run=run,
            parent=self._last,
            round=run.round,
            sequence=self._sequence,
            role=turn.role,
            content=turn.content,
            reasoning=turn.reasoning,
            finish_reason=turn.finish_reason[:64],
            metadata=_SOURCE | ({"model": turn.model} if turn.model else {}),
            created_at=_time(turn),
        )
        self.rows.messages.append(message)
        self._last = message
        return message

    def _id_of(self, turn: Turn) -> uuid.UUID:
        """The source's own where it is a UUID, else made of thread and position."""
        try:
            key = uuid.UUID(turn.source_id)
        except ValueError:
            key = uuid.uuid5(self._space, f"message {turn.position}")
        if key in self._used:
            key = uuid.uuid5(self._space, f"message {turn.position} again")
        self._used.add(key)
        return key


def _status_of(call: Call, result: Turn) -> ToolCall.Status:
    failed = result.is_error or not call.is_valid
    return ToolCall.Status.FAILED if failed else ToolCall.Status.SUCCEEDED


def _time(turn: Turn) -> datetime:
    assert turn.created_at is not None
    return turn.created_at


def _sum(numbers: list[int | None]) -> int | None:
    """Unknown stays unknown."""
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None
