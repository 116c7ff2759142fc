"""A session's rows → the messages a model reads. The rows are the one truth."""

import re
from collections.abc import Callable, Iterable

from django.conf import settings
from langchain_core.messages import (
    AnyMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from chat.agent.citing import without_marks
from chat.agent.translate import CallRequest, assistant_message
from chat.history import newest_messages
from chat.models import Message, Run

Masked = Callable[[str], str]


def window_of(run: Run, masked: Masked = str) -> list[AnyMessage]:
    """The newest whole rounds up to and with this run, oldest first.

    `masked` takes out of device text what must not leave the site.
    """
    rows = newest_messages(run.session, limit=settings.HISTORY_MESSAGES)
    rows = [row for row in rows if row.round <= run.round]
    first_round = rows[0].round if rows else 0
    if len(rows) == settings.HISTORY_MESSAGES and first_round != run.round:
        # Its first round may be cut: a result without its call is refused.
        rows = [row for row in rows if row.round != first_round]
    return as_messages(rows, masked)


def as_messages(rows: Iterable[Message], masked: Masked = str) -> list[AnyMessage]:
    """Valid for any provider: no blank turn, no call without its result."""
    rows = list(rows)
    # By round: some providers count their ids from 0 in each.
    answered = {
        (row.round, row.tool_call_id) for row in rows if row.role == Message.Role.TOOL
    }
    current = rows[-1].round if rows else 0
    messages: list[AnyMessage] = []
    for row in rows:
        is_error = bool(row.metadata.get("error"))
        if is_error:
            continue
        is_current = row.round == current
        message = _as_message(row, answered, masked, is_current=is_current)
        if message is not None:
            messages.append(message)
    return messages


def _as_message(
    row: Message, answered: set[tuple[int, str]], masked: Masked, *, is_current: bool
) -> AnyMessage | None:
    message_id = str(row.pk)
    match row.role:
        case Message.Role.USER:
            return HumanMessage(_with_documents(row), id=message_id)
        case Message.Role.SYSTEM:
            return SystemMessage(row.content, id=message_id)
        case Message.Role.TOOL:
            shown = row.content if is_current else _CITE.sub("", row.content)
            return ToolMessage(
                masked(shown),
                id=message_id,
                tool_call_id=row.tool_call_id,
                name=row.name,
            )
        case _:
            calls = sorted(row.calls.all(), key=lambda call: call.position)
            # Of the run in progress, open calls stay: they are about to run.
            kept = [
                call
                for call in calls
                if is_current or (row.round, call.call_id) in answered
            ]
            if not row.content and not kept:
                return None
            requests = [
                CallRequest(call.call_id, call.name, call.arguments, call.extra)
                for call in kept
            ]
            # It may quote a device, told by a model that reads everything.
            # Numbers are of one round: others would point to this round's evidence.
            said = row.content if is_current else without_marks(row.content)
            text = masked(said)
            thought = masked(row.reasoning)
            return assistant_message(message_id, text, thought, requests)


_CITE = re.compile(r',"cite":"\[\d+\]"|"cite":"\[\d+\]",?')


def _with_documents(row: Message) -> str:
    """Names of what is attached; tools read the rest."""
    documents = row.metadata.get("documents") or ()
    names = ", ".join(f"{item['name']} ({item['kind']})" for item in documents)
    return f"{row.content}\n\n[Attached: {names}]" if names else row.content
