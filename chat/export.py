"""A whole conversation as a file to keep: Markdown to read, JSON for programs."""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

from django.utils import timezone

from chat.history import all_messages, turns_of
from chat.models import ChatSession, Message

_NAME_LENGTH = 60


def as_markdown(session: ChatSession) -> str:
    """What was asked and answered, and what the devices said."""
    project = session.project.name if session.project else ""
    facts = [
        f"- Project: {_line(project)}" if project else "",
        f"- Begun: {session.created_at.isoformat(timespec='seconds')}",
        f"- Exported: {timezone.now().isoformat(timespec='seconds')}",
    ]
    parts = [f"# {_line(session.title) or 'Conversation'}"]
    parts.append("\n".join(filter(None, facts)))
    for turn in turns_of(session, all_messages(session)):
        parts += _sections(turn)
    return "\n\n".join(parts) + "\n"


def as_openai(session: ChatSession) -> dict[str, Any]:
    """The messages in OpenAI's format, with what belongs to the conversation."""
    return {
        "thread_id": session.thread_id,
        "title": session.title,
        "project_id": session.project.project_id if session.project else None,
        "created_at": session.created_at.isoformat(),
        "exported_at": timezone.now().isoformat(),
        "messages": turns_of(session, all_messages(session)),
    }


def file_name(session: ChatSession, extension: str) -> str:
    """Of the title's letters and digits; no path, no device name, no dot in front."""
    plain = unicodedata.normalize("NFKC", session.title)
    words = re.sub(r"[^\w]+", "-", plain).strip("-_")[:_NAME_LENGTH].strip("-_")
    return f"{words or 'conversation'}-{session.thread_id[:8]}.{extension}"


def _sections(turn: dict[str, Any]) -> Iterator[str]:
    metadata = turn["metadata"]
    match turn["role"]:
        case Message.Role.USER:
            yield f"## Question {metadata['round']}"
            yield _quoted(turn["content"])
        case Message.Role.TOOL:
            yield f"### Output of {_code(turn.get('name', 'tool'))}"
            yield _fenced(turn["content"])
        case Message.Role.ASSISTANT:
            if turn["content"]:
                yield f"## {_answer_title(metadata)}"
                yield _quoted(turn["content"])
            yield from _sources(metadata.get("citations", ()))
            yield from _calls(turn.get("tool_calls", ()))
        case _:
            yield "## Note"
            yield _quoted(turn["content"])


def _answer_title(metadata: dict[str, Any]) -> str:
    if metadata.get("error"):
        return "Error"
    title = f"Answer {metadata['round']}"
    if model := metadata.get("model"):
        title += f" ({_line(str(model))})"
    return f"{title}, not whole" if metadata.get("is_partial") else title


def _sources(citations: Iterable[dict[str, Any]]) -> Iterator[str]:
    """What the answer cites, each with its number and place."""
    lines = [
        " · ".join(
            part
            for part in (
                f"{one['n']}. {_line(one['title'])}",
                _line(one["location"]),
                one["time"],
                "read before a later change" if one.get("stale") else "",
            )
            if part
        )
        for one in citations
    ]
    if lines:
        yield "### Sources"
        yield "\n".join(lines)


def _calls(calls: Iterable[dict[str, Any]]) -> Iterator[str]:
    for call in calls:
        function = call["function"]
        yield f"### Call of {_code(function['name'])}"
        yield _fenced(_pretty(function["arguments"]), "json")


def _pretty(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return arguments


def _fenced(text: str, language: str = "") -> str:
    """Longer than any fence within, so that the text cannot close it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _quoted(text: str) -> str:
    """As a quotation: whatever it opens (a fence, HTML, a list) ends with it."""
    lines = re.split(r"\r\n|\r|\n", text.strip("\r\n"))
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _code(name: str) -> str:
    return f"`{' '.join(name.replace('`', '').split())}`"


def _line(text: str) -> str:
    """One line of text in which nothing is markup."""
    plain = " ".join(text.split())
    return re.sub(r"([\\`*_\[\]<>#|!&~])", r"\\\1", plain)
