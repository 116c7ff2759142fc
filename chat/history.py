"""Stored turns in OpenAI's format, for history, events and exports."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import F, Q, QuerySet

from chat.converters import openai_tool_call
from chat.models import ChatSession, Message
from chat.staleness import mark_stale


def newest_messages(
    session: ChatSession, *, limit: int, before: Message | None = None
) -> list[Message]:
    """The newest messages (before one), oldest first, with their calls."""
    messages = session.messages.all()
    if before is not None:
        messages = messages.filter(
            Q(round__lt=before.round)
            | Q(round=before.round, sequence__lt=before.sequence)
        )
    return list(_shown(messages).order_by("-round", "-sequence")[:limit])[::-1]


def all_messages(session: ChatSession) -> Iterator[Message]:
    """Oldest first, with their calls; read in portions."""
    ordered = _shown(session.messages.all()).order_by("round", "sequence")
    return ordered.iterator(chunk_size=500)


def _shown(messages: QuerySet[Message]) -> QuerySet[Message]:
    """With what `openai_message` shows of other tables: no query per message."""
    return messages.annotate(
        verdict=F("feedback__value"), comment=F("feedback__comment")
    ).prefetch_related("calls")


def turns_of(session: ChatSession, messages: Iterable[Message]) -> list[dict[str, Any]]:
    """In OpenAI's format; what a later change has overtaken is marked as stale."""
    turns = [openai_message(message) for message in messages]
    mark_stale(session, turns)
    return turns


def openai_message(message: Message) -> dict[str, Any]:
    """String content, calls with JSON text as arguments, a stable id."""
    turn: dict[str, Any] = {
        "id": str(message.pk),
        "role": message.role,
        "content": message.content,
        "created_at": message.created_at.isoformat(),
    }
    if message.name:
        turn["name"] = message.name
    if message.tool_call_id:
        turn["tool_call_id"] = message.tool_call_id
    if message.role == Message.Role.ASSISTANT:
        calls = [
            openai_tool_call(call.call_id, call.name, call.arguments)
            for call in sorted(message.calls.all(), key=lambda call: call.position)
        ]
        if calls:
            turn["tool_calls"] = calls
    metadata = dict(message.metadata)
    if message.run_id:
        metadata["run_id"] = str(message.run_id)
    metadata["round"] = message.round
    if message.finish_reason:
        metadata["finish_reason"] = message.finish_reason
    if message.is_partial:
        metadata["is_partial"] = True
    if message.reasoning:
        metadata["reasoning"] = message.reasoning
    if verdict := getattr(message, "verdict", None):
        comment = getattr(message, "comment", "")
        metadata["feedback"] = {"value": verdict, "comment": comment}
    turn["metadata"] = metadata
    return turn
