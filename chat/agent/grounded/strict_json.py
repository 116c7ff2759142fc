"""A model's structured answer: one JSON object, or nothing is taken from it."""

import json
import re
from typing import Any

_FENCE = re.compile(r"\A```(?:json)?\s*\n(.*)\n```\Z", re.DOTALL)
_THOUGHT = re.compile(r"\A<think>.*?</think>\s*", re.DOTALL)


class NotJson(ValueError):
    """The answer is no JSON object."""


def parse_object(text: str) -> dict[str, Any]:
    """Thinking before it and a code fence around it are all that is forgiven."""
    text = _THOUGHT.sub("", text.strip()).strip()
    if inner := _FENCE.match(text):
        text = inner[1]
    try:
        value = json.loads(text, parse_constant=_refuse, object_pairs_hook=_unique)
        # What is no character can be neither sent nor stored.
        sendable = json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise NotJson("no JSON") from None
    if not isinstance(value, dict) or b"\\u0000" in sendable:
        raise NotJson("no object of text")
    return value


def _refuse(constant: str) -> None:
    raise NotJson(f"{constant} is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotJson("a key stands twice")
    return found
