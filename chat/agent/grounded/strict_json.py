"""A model's structured answer: one JSON object, or nothing is taken from it."""

import json
import re
from typing import Any

from copilot_site.lib.strict_json import read_strictly

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
        value = read_strictly(text)
        # What is no character can be neither sent nor stored.
        sendable = json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise NotJson("no JSON") from None
    if not isinstance(value, dict) or b"\\u0000" in sendable:
        raise NotJson("no object of text")
    return value
