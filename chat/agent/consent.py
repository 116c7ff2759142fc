"""Which calls of a step wait for a person, and what the person is shown of them."""

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from chat.agent.state import Asked, Consent, Context, current_kit
from chat.agent.tools.base import Tool, ToolFailed
from chat.agent.tools.preview import Shown
from chat.agent.translate import CallRequest
from copilot_site.lib.errors import UserFacingError

logger = logging.getLogger(__name__)

# A tool and its arguments.
Same = tuple[str, dict[str, Any] | None]

_QUESTION_LENGTH = 300
_NO_RIGHT = (
    "Nothing was changed: the person who asks has no right to change this lab. "
    "Someone with the role engineer in this project can."
)
_NEVER = (
    "Nothing was changed: this assistant may look at the lab, but never change it. "
    "Say what would have to be changed, so that a person can do it."
)
_TOO_LONG = (
    "Not run: nobody can read {count} characters before deciding on them. "
    "Split the change into smaller calls."
)
_REJECTED = (
    "Not run: this very call has just been rejected. Do not repeat it: "
    "propose something else, or say why it would be needed."
)
# As much as a person may write in place of it.
_LONGEST = 100_000
_UNREAD = "The present state could not be read, so a change of it goes unnoticed."


@dataclass(frozen=True, slots=True)
class Step:
    """What the gate found: whether to wait, and which calls may not run at all."""

    is_waiting: bool = False
    refusals: dict[str, str] = field(default_factory=dict)


async def consider(
    requests: Sequence[CallRequest], messages: Sequence[AnyMessage], context: Context
) -> Step:
    """Ask for all of a step at once; a recorded decision is not asked for again."""
    wanting = [request for request in requests if _wants(request, context)]
    if not wanting:
        return Step()
    known = context.journal.consents()
    undecided = [r for r in wanting if not _is_waiting(known.get(r.id))]
    context.journal.status("approval", "Reading the state before the change")
    rejected = _rejected(messages)
    looks = await asyncio.gather(
        *(
            _look(each, context)
            if each.id in known
            else _shown(each, rejected, context)
            for each in undecided
        )
    )
    asked, expired, refusals = [], {}, {}
    for request, shown in zip(undecided, looks, strict=True):
        consent = known.get(request.id)
        change = _changed(consent.state, shown.state) if consent else ""
        if shown.refusal:
            refusals[request.id] = shown.refusal
        elif consent is None or change:
            asked.append(_asked(request, shown, messages, change))
        if change and not shown.refusal:
            expired[request.id] = change
    is_waiting = len(undecided) < len(wanting) or bool(asked)
    if is_waiting:
        await context.journal.wait_for_approval(asked, expired)
    return Step(is_waiting, refusals)


def check_allowed(
    tool: Tool[Any], arguments: Mapping[str, Any], context: Context
) -> None:
    """Raises ToolFailed for a change that nobody's consent would allow."""
    if not tool.needs_consent(dict(arguments)):
        return
    if not context.may_change:
        raise ToolFailed(_NO_RIGHT)
    if context.approval == "never_change":
        raise ToolFailed(_NEVER)


def _wants(request: CallRequest, context: Context) -> bool:
    # What is refused anyhow is refused when it runs.
    if context.approval in ("trust", "never_change") or not context.may_change:
        return False
    tool, arguments = context.tools.get(request.name), request.parsed()
    return tool is not None and arguments is not None and tool.needs_consent(arguments)


def _is_waiting(consent: Consent | None) -> bool:
    return consent is not None and not consent.is_given


async def _shown(
    request: CallRequest, rejected: Sequence[Same], context: Context
) -> Shown:
    """As `_look`, but of what is not to be asked for."""
    if len(request.arguments) > _LONGEST:
        return Shown("", refusal=_TOO_LONG.format(count=len(request.arguments)))
    if (request.name, request.parsed()) in rejected:
        return Shown("", refusal=_REJECTED)
    return await _look(request, context)


def _rejected(messages: Sequence[AnyMessage]) -> list[Same]:
    """What a person has rejected since the last thing that a person said."""
    ids: set[str] = set()
    found: list[Same] = []
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            break
        if isinstance(message, ToolMessage) and _is_rejection(message.text):
            ids.add(message.tool_call_id)
        elif isinstance(message, AIMessage):
            calls = (call for call in message.tool_calls if call["id"] in ids)
            found += [(call["name"], call["args"]) for call in calls]
    return found


def _is_rejection(result: str) -> bool:
    try:
        value = json.loads(result)
    except ValueError:
        return False
    return isinstance(value, dict) and value.get("rejected") is True


async def _look(request: CallRequest, context: Context) -> Shown:
    """What fails for a known reason would fail when it runs: a refusal."""
    arguments = request.parsed()
    assert arguments is not None
    try:
        async with asyncio.timeout(context.tool_seconds):
            return await context.tools[request.name].look(arguments, current_kit.get())
    except UserFacingError as error:
        return Shown("", refusal=str(error))
    except Exception:
        logger.exception("The state before %s could not be read", request.name)
        return Shown(f"Use {request.name.replace('_', ' ')}", notes=[_UNREAD])


def _changed(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """In words, what is no longer as it was shown; what was not readable binds not."""
    parts = [name for name, value in before.items() if value and now.get(name) != value]
    if not parts:
        return ""
    if parts == ["topology"]:
        return "The lab has changed since this was shown."
    return f"The configuration of {', '.join(parts)} has changed since it was shown."


def _asked(
    request: CallRequest, shown: Shown, messages: Sequence[AnyMessage], change: str
) -> Asked:
    proposal = shown.as_json()
    for part in proposal["devices"]:
        for line in part["commands"]:
            line["origin"] = origin_of(line["command"], messages)
    if change:
        proposal["notes"] = [change, *proposal["notes"]]
    proposal["question"] = _question(messages)[:_QUESTION_LENGTH]
    return Asked(request.id, proposal, shown.state)


def origin_of(line: str, messages: Sequence[AnyMessage]) -> str:
    """Who wrote the line before the model did: "person", "output", or nobody."""
    words = _plain(line)
    written = [m for m in messages if words and words in _plain(m.text)]
    if any(isinstance(message, HumanMessage) for message in written):
        return "person"
    is_output = any(isinstance(message, ToolMessage) for message in written)
    return "output" if is_output else ""


def _question(messages: Sequence[AnyMessage]) -> str:
    texts = [m.text for m in messages if isinstance(m, HumanMessage)]
    return texts[-1] if texts else ""


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
