"""Stored turns in OpenAI's format, for history, events and exports."""

from typing import Any

from django.db.models import Q

from chat.models import ChatSession, Message


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
    newest = messages.order_by("-round", "-sequence").prefetch_related("calls")
    return list(newest[:limit])[::-1]


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
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments or "{}"},
            }
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
    turn["metadata"] = metadata
    return turn
