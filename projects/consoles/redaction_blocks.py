"""Secrets that only the lines around them give away: keys, certificates, tables."""

import re
from collections.abc import Callable

from projects.consoles.redaction_rules import FIRST_VALUE, WRAPPED

Hide = Callable[[re.Match[str]], str]

MASK = "‹hidden›"
_FARTHEST = 400
_CUES = (
    *("-----BEGIN ", "-----END ", "name=", "=\\", " key ", "\tkey "),
    *("Preshared Key", "certificate", "key-string"),
)
_HEX_CUE = re.compile(r"(?:[0-9A-F]{8}[ \r]){5}")
_BASE64 = re.compile(r"\s*(?:[A-Za-z0-9+/=]{16,}|[A-Za-z0-9+/]{1,15}=+)\s*")
_PEM_HEADER = re.compile(r"\s*[A-Z][\w-]{2,20}: .*")
# As IOS prints certificates and keys: groups of eight hex digits.
_HEX_START = re.compile(
    r"\s*(?:certificate\s+(?:self-signed\s+|ca\s+|rollover\s+)?[0-9A-F]+|key-string)\s*"
)
_HEX = re.compile(r"\s*(?:[0-9A-F]{8}\s+){0,15}[0-9A-F]{2,8}\s*")
_LONG_HEX = re.compile(r"\s*(?:[0-9A-F]{8}\s+){5,15}[0-9A-F]{2,8}\s*")
_SERVER_KEY = re.compile(r"\s+key\s+(?!\d{1,2}\s)(?P<s>\S+)\s*")
_SERVER = re.compile(r"(?:tacacs|radius|aaa)\b")
_COMMUNITY_NAME = re.compile(r"\sname=(?P<s>\"[^\"]*\"?|\S+)")
_LAST_WORD = re.compile(r"(?!\S+[#>])\S.*\s(?P<s>\S+)\s*")


def may_hold_blocks(text: str) -> bool:
    return any(cue in text for cue in _CUES) or _HEX_CUE.search(text) is not None


def hide_blocks(lines: list[str], hide: Hide) -> None:
    """Changes the lines in place; none is added or removed."""
    hidden_until = 0
    for i, line in enumerate(lines):
        if "-----BEGIN " in line and "-----END" not in line:
            hidden_until = _hide_pem(lines, i + 1)
        elif "-----END " in line and i > hidden_until:
            _hide_before(lines, i)
        elif "name=" in line and "ommunity" in _section(lines, i, "/"):
            lines[i] = _COMMUNITY_NAME.sub(hide, line)
        elif "=\\" in line and i + 1 < len(lines) and WRAPPED.search(line):
            lines[i + 1] = FIRST_VALUE.sub(hide, lines[i + 1])
        elif " key " in line or "\tkey " in line:
            if _SERVER_KEY.fullmatch(line) and _SERVER.match(_section(lines, i, "")):
                lines[i] = _SERVER_KEY.sub(hide, line)
        elif "Preshared Key" in line:
            _hide_table(lines, i + 1, hide)
        elif (
            ("certificate" in line or "key-string" in line)
            and _HEX_START.fullmatch(line)
        ) or _LONG_HEX.fullmatch(line):
            start = i if _LONG_HEX.fullmatch(line) else i + 1
            _hide_while(lines, start, _HEX)


def _hide_line(lines: list[str], i: int) -> None:
    line = lines[i]
    if line.strip():
        indent = line[: len(line) - len(line.lstrip())]
        lines[i] = indent + MASK + line[len(line.rstrip()) :]


def _hide_pem(lines: list[str], start: int) -> int:
    """The body of what begins before `start`; the line where it ends."""
    for end in range(start, min(len(lines), start + _FARTHEST)):
        if "-----END" in lines[end]:
            for i in range(start, end):
                _hide_line(lines, i)
            return end
    # Cut off: what follows may be something else.
    i = start
    while i < len(lines) and (
        not lines[i].strip()
        or lines[i].strip() == MASK
        or _BASE64.fullmatch(lines[i])
        or _PEM_HEADER.fullmatch(lines[i])
    ):
        _hide_line(lines, i)
        i += 1
    return i


def _hide_before(lines: list[str], end: int) -> None:
    i = end - 1
    while i >= 0 and _BASE64.fullmatch(lines[i]):
        _hide_line(lines, i)
        i -= 1


def _hide_while(lines: list[str], start: int, pattern: re.Pattern[str]) -> None:
    i = start
    while i < len(lines) and (lines[i].strip() == MASK or pattern.fullmatch(lines[i])):
        _hide_line(lines, i)
        i += 1


def _hide_table(lines: list[str], start: int, hide: Hide) -> None:
    """The last column, up to the first empty line behind a row."""
    has_rows = False
    for i in range(start, min(len(lines), start + _FARTHEST)):
        match = _LAST_WORD.fullmatch(lines[i])
        if match is None:
            if has_rows or lines[i].strip():
                return
            continue
        has_rows = True
        lines[i] = hide(match)


def _section(lines: list[str], i: int, mark: str) -> str:
    """The nearest line above that is not indented and begins so."""
    for line in reversed(lines[max(0, i - 50) : i]):
        if line[:1].strip() and line.startswith(mark):
            return line
    return ""
