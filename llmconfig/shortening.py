"""A text without its middle, for when there is no room for all of it."""

import json
from typing import Any

from llmconfig.tokens import estimate

# Strings in JSON lose nothing more when they are this short.
_SHORTEST_STRING = 160


def shorten(text: str, tokens: int, *, can_run_again: bool = True) -> str:
    """Head and tail within so many tokens. JSON stays JSON while that is possible."""
    cost = estimate(text)
    if cost <= tokens:
        return text
    hint = "; run the command again to see them" if can_run_again else ""
    if text[:1] in ("{", "["):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            pass
        else:
            keep = len(text)
            while keep > _SHORTEST_STRING:
                keep = keep * 3 // 4
                shorter = json.dumps(
                    _with_short_strings(value, keep, hint),
                    ensure_ascii=False,
                    separators=(",", ":"),
                )
                if estimate(shorter) <= tokens:
                    return shorter
    keep = len(text) * tokens // cost
    while keep > 0:
        shorter = _without_middle(text, keep, hint)
        if estimate(shorter) <= tokens:
            return shorter
        keep = keep * 9 // 10
    note = _without_middle(text, 0, hint)
    return note if estimate(note) <= tokens else ""


def _with_short_strings(value: Any, keep: int, hint: str) -> Any:
    match value:
        case str() if len(value) > keep:
            return _without_middle(value, keep, hint)
        case dict():
            return {k: _with_short_strings(v, keep, hint) for k, v in value.items()}
        case list():
            return [_with_short_strings(item, keep, hint) for item in value]
    return value


def _without_middle(text: str, keep: int, hint: str) -> str:
    """At line ends where they are near: half a line may be misread."""
    head, tail = text[: keep * 3 // 5], text[len(text) - keep * 2 // 5 :]
    cut = head.rfind("\n") + 1
    if cut * 4 > len(head) * 3:
        head = head[:cut]
    cut = tail.find("\n")
    if 0 <= cut < len(tail) // 4:
        tail = tail[cut:]
    missing = len(text) - len(head) - len(tail)
    note = f"[… {missing} characters are left out here{hint} …]"
    return "\n".join(part.strip("\n") for part in (head, note, tail) if part)
