"""The marks in a text that point to passages: `[3]`, `[1, 4]`, or `[2-4]`."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

_OPEN, _CLOSE = "[\\[【［]", "[\\]】］]"
_BETWEEN = r"\s{0,3}(?:[,;，、–—&-]|and|und|和)\s{0,3}"
_NUMBERS = rf"\s{{0,3}}\^?\d{{1,3}}(?:{_BETWEEN}\d{{1,3}}){{0,7}}\s{{0,3}}"
# As some models mark what they were given: 【3†source】.
_WHERE = r"(?:†[^\]】］\n]{0,80})?"
# What would make the mark a link to elsewhere.
_TARGET = r"\((?:https?://|mailto:|[/#])[^()\s]{0,300}\)"
# A mark with the gap before it, which goes when the mark goes.
_MARK = re.compile(
    rf"(?P<gap>[ \t]{{0,3}}){_OPEN}(?P<numbers>{_NUMBERS}){_WHERE}{_CLOSE}"
    rf"(?P<target>{_TARGET})?(?P<colon>:(?=\s))?"
)
# What may become one, or more of one, when more text comes.
_INSIDE = r"[\s\d^,;，、–—&和andu-]{0,110}"
_BEGUN = re.compile(
    rf"[ \t]{{0,3}}(?:{_OPEN}{_INSIDE}(?:†[^\]】］\n]{{0,80}})?"
    rf"(?:{_CLOSE}(?:\([^()\s]{{0,310}}(?:\):?)?|:)?)?)?\Z"
)
_NUMBER = re.compile(r"(\d{1,3})(?:\s*[–—-]\s*(\d{1,3}))?")
_LONGEST_RANGE = 9
_TICKS = re.compile("`+")
_PLAIN = re.compile(r"[^`\[【［ \t\n]+")
# Code in a line ends with it, or it was no code but a stray tick.
_LINE_CODE = 200
_CODE_END = re.compile(r"\n[ \t]{0,3}(?:\n|```)|(?<!`)(`+)(?!`)")


def marked(text: str) -> list[int]:
    """The numbers cited, in order, each once; what stands in code cites nothing."""
    found = (number for mark in _marks(text) for number in mark.numbers)
    return list(dict.fromkeys(found))


def without_marks(text: str) -> str:
    """For a reader who has other passages under these numbers."""
    parts = _Scan().read(text, is_last=True)
    return "".join(part.rest if isinstance(part, _Mark) else part for part in parts)


@dataclass(frozen=True, slots=True)
class _Mark:
    """`rest`: what stays of it where no number does."""

    gap: str
    numbers: tuple[int, ...]
    rest: str


def _marks(text: str) -> Iterator[_Mark]:
    parts = _Scan().read(text, is_last=True)
    return (part for part in parts if isinstance(part, _Mark))


class _Scan:
    """Reads a text that comes in pieces; `at` is where it has to go on."""

    def __init__(self) -> None:
        self.at = 0
        self._block = ""
        self._is_line_start = True

    def read(self, text: str, *, is_last: bool) -> Iterator[str | _Mark]:
        """All that no further text can change."""
        self.at = 0
        while self.at < len(text):
            part, end = self._next(text, is_last)
            if end == self.at:
                return
            self._is_line_start = text[end - 1] == "\n"
            self.at = end
            yield part

    def _next(self, text: str, is_last: bool) -> tuple[str | _Mark, int]:
        at = self.at
        if ticks := _TICKS.match(text, at):
            end = at if ticks.end() == len(text) and not is_last else ticks.end()
            end = self._after_ticks(text, ticks[0], end, is_last)
        elif self._block:
            found = text.find("`", at)
            end = len(text) if found < 0 else found
        elif plain := _PLAIN.match(text, at):
            end = plain.end()
        elif not is_last and _BEGUN.match(text, at):
            end = at
        elif mark := self._mark(text, at):
            return mark
        else:
            end = at + 1
        return text[at:end], end

    def _after_ticks(self, text: str, ticks: str, end: int, is_last: bool) -> int:
        """Where what they begin or end is over; their own place: it is not clear."""
        if end == self.at:
            return end
        if self._block:
            if len(ticks) >= len(self._block):
                self._block = ""
            return end
        if len(ticks) >= 3:
            self._block = ticks
            return end
        for found in _CODE_END.finditer(text, end, end + _LINE_CODE):
            if found.end() == len(text) and not is_last:
                return self.at
            if not found[1]:
                return end
            if found[1] == ticks:
                return found.end()
        is_short = len(text) - end < _LINE_CODE + 1
        return self.at if is_short and not is_last else end

    def _mark(self, text: str, at: int) -> tuple[_Mark, int] | None:
        found = _MARK.match(text, at)
        if found is None or not (numbers := _numbers(found["numbers"])):
            return None
        colon = found["colon"] or ""
        # At the start of a line it would make the number a link to elsewhere.
        is_definition = self._is_line_start and not found["gap"]
        rest = "" if is_definition else colon
        return _Mark(found["gap"], numbers, rest), found.end()


def _numbers(text: str) -> tuple[int, ...]:
    """Empty where there is a range, but not one of passages."""
    numbers: list[int] = []
    for first, last in _NUMBER.findall(text):
        if last and not 0 < int(last) - int(first) < _LONGEST_RANGE:
            return ()
        numbers += range(int(first), int(last or first) + 1)
    return tuple(dict.fromkeys(numbers))


class MarkFilter:
    """Takes marks of passages that are not there out of a text while it is written.

    However the text is cut into pieces, the same text comes out.
    """

    def __init__(self, known: Collection[int]) -> None:
        self._known = frozenset(known)
        self._scan = _Scan()
        self._rest = ""

    def feed(self, piece: str) -> str:
        """What is settled by now."""
        self._rest += piece
        return self._settled(is_last=False)

    def finish(self) -> str:
        """What was held back."""
        return self._settled(is_last=True)

    def _settled(self, *, is_last: bool) -> str:
        parts = self._scan.read(self._rest, is_last=is_last)
        out = "".join(
            self._kept(part) if isinstance(part, _Mark) else part for part in parts
        )
        self._rest = self._rest[self._scan.at :]
        return out

    def _kept(self, mark: _Mark) -> str:
        kept = "".join(
            f"[{number}]" for number in mark.numbers if number in self._known
        )
        return f"{mark.gap}{kept}{mark.rest}" if kept else mark.rest
