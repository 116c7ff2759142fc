"""What follows the bar in `show running-config | include ip`."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

PIPE = re.compile(r"^(.*?)\s*\|\s*(include|exclude|begin|section)\s+(.+)$", re.I)


def split(line: str) -> tuple[str, Callable[[str], str]]:
    """The command, and what to do with its output."""
    piped = PIPE.match(line)
    if piped is None:
        return line, str
    kind, pattern = piped.group(2).lower(), piped.group(3)
    return piped.group(1), partial(_filtered, kind=kind, pattern=pattern)


def _filtered(text: str, kind: str, pattern: str) -> str:
    try:
        wanted = re.compile(pattern)
    except re.error:
        return "% Failed to compile regular expression.\n"
    lines = text.splitlines(keepends=True)
    if kind == "begin":
        first = next((i for i, line in enumerate(lines) if wanted.search(line)), None)
        return "".join(lines[first:]) if first is not None else ""
    if kind == "section":
        kept: list[str] = []
        is_in = False
        for line in lines:
            is_in = bool(wanted.search(line)) or (is_in and line.startswith(" "))
            if is_in:
                kept.append(line)
        return "".join(kept)
    return "".join(
        line for line in lines if bool(wanted.search(line)) == (kind == "include")
    )
