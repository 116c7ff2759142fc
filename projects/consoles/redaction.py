"""Masks secrets in device output and configurations before they leave the site.

A line keeps its shape and kind, as in `enable secret 9 ‹hidden›`; no line is added or
removed, a second pass changes nothing, and JSON stays JSON.
"""

import json
import re

from projects.consoles.redaction_blocks import MASK, Hide, hide_blocks, may_hold_blocks
from projects.consoles.redaction_rules import (
    FIELD,
    LINES,
    NAMED,
    ORDINARY,
    SHAPES,
    Rules,
)

__all__ = ["MASK", "redact"]

_JSON_START = re.compile(r"\s*(?:\{\s*\"|\[\s*[\[{\"])")
_JSON_STRING = re.compile(r'"((?:[^"\\\n]|\\[^\n])*)("|(?=\n)|\\?$|\\(?=\n))')
_JSON_BETWEEN = re.compile(r"(?:[\s,:\[\]{}\d.eE+-]|true|false|null|NaN|Infinity)*")
_ESCAPED_BREAK = re.compile(r"((?:\\r)?\\n)")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Free text of the person who wrote the configuration.
_FREE_TEXT = re.compile(
    r"\s*(?:description|remark|alias|\S+\s+remark)\s", re.IGNORECASE
)
_DEEPEST = 4


def redact(text: str) -> str:
    """Linear in the text. Never raises, whatever the text is."""
    return _redact(text, 0)


def _redact(text: str, depth: int) -> str:
    if depth < _DEEPEST and _JSON_START.match(text):
        return _redact_json(text, depth)
    return _redact_plain(text)


def _redact_plain(text: str) -> str:
    lower = text.lower()
    shapes, rules, named = (_present(table, lower) for table in (SHAPES, LINES, NAMED))
    has_blocks = may_hold_blocks(text)
    if not (shapes or rules or named or has_blocks):
        return text
    pieces: list[str] = []
    joints: list[str] = []
    for line in text.split("\n"):
        if shapes:
            line = _applied(shapes, line)
        # A part of a JSON text: its lines are written one behind the other.
        parts = _ESCAPED_BREAK.split(line) if line.count("\\n") > 1 else [line]
        pieces.extend(parts[::2])
        joints.extend([*parts[1::2], "\n"])
    if has_blocks:
        hide_blocks(pieces, _hidden)
    joints[-1] = ""
    done: list[str] = []
    for piece, joint in zip(pieces, joints, strict=True):
        if rules and not _FREE_TEXT.match(piece):
            piece = _applied(rules, piece)
        if named and ("=" in piece or ":" in piece):
            piece = _applied(named, piece, _hidden_unless_ordinary)
        done += (piece, joint)
    return "".join(done)


def _present(rules: Rules, lower: str) -> Rules:
    """Most texts hold few of the words: lines need not be searched for the others."""
    return {stem: patterns for stem, patterns in rules.items() if stem in lower}


def _applied(rules: Rules, line: str, hide: Hide | None = None) -> str:
    lower = line.lower()
    for stem, patterns in rules.items():
        if stem in lower:
            for pattern in patterns:
                line = pattern.sub(hide or _hidden, line)
    return line


def _hidden(match: re.Match[str]) -> str:
    """The match with its secret masked; quotes around it stay."""
    secret, whole, start = match["s"], match[0], match.start()
    quote = secret[0] if secret[0] in "\"'" else ""
    first, last = match.span("s")
    return whole[: first - start] + quote + MASK + quote + whole[last - start :]


def _hidden_unless_ordinary(match: re.Match[str]) -> str:
    value = match["s"].strip("\"'.,").lower()
    is_mark = len(value) < 3 and not any(map(str.isalnum, value))
    return match[0] if value in ORDINARY or is_mark else _hidden(match)


# --- JSON -------------------------------------------------------------------------


def _redact_json(text: str, depth: int) -> str:
    """String by string, so that all else stays as it is."""
    parts: list[str] = []
    end, previous = 0, ""
    for match in _JSON_STRING.finditer(text):
        between, body = text[end : match.start()], match[1]
        end = match.end()
        if not _JSON_BETWEEN.fullmatch(between):
            # Cut off, and something else follows: what is a string is unknown.
            end -= len(between) + len(match[0])
            break
        parts.append(between)
        decoded = _decoded(body)
        if decoded is None:
            parts.append('"' + _redact_plain(body) + match[2])
            previous = ""
            continue
        if between.strip() == ":" and decoded and _is_secret(previous, decoded):
            redacted = MASK
        else:
            redacted = _redact(decoded, depth + 1)
        if redacted != decoded:
            body = _encoded(redacted)
        parts.append('"' + body + match[2])
        previous = decoded
    parts.append(_redact_plain(text[end:]))
    return "".join(parts)


def _is_secret(field: str, value: str) -> bool:
    return (
        len(field) < 80
        and value.lower() not in ORDINARY
        and FIELD.fullmatch(field) is not None
    )


def _decoded(body: str) -> str | None:
    try:
        value = json.loads(f'"{body}"', strict=False)
    except ValueError:
        return None
    return value if isinstance(value, str) else None


def _encoded(text: str) -> str:
    body = json.dumps(text, ensure_ascii=False)[1:-1]
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", body)
