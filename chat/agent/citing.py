"""The marks in a text that point to passages: `[3]`, or `[1, 4]`."""

import re
from collections.abc import Collection, Iterator

_OPEN, _CLOSE = "[\\[【]", "[\\]】]"
_NUMBERS = r"\s*\^?\d{1,3}(?:\s*[,;，、]\s*\d{1,3})*\s*"
# A mark with the gap before it, which goes when the mark goes.
_MARK = re.compile(rf"[ \t]*{_OPEN}({_NUMBERS}){_CLOSE}")
# What may become one when more text comes.
_BEGUN = re.compile(rf"[ \t]*(?:{_OPEN}\s{{0,3}}\^?[\d\s,;，、]{{0,40}})?\Z")
_CODE = re.compile("`+")
_DIGITS = re.compile(r"\d+")


def marked(text: str) -> list[int]:
    """The numbers cited, in order, each once; what stands in code cites nothing."""
    found = (
        int(number) for mark in _marks(text) for number in _DIGITS.findall(mark[1])
    )
    return list(dict.fromkeys(found))


def without_marks(text: str) -> str:
    """For a reader who has other passages under these numbers."""
    pieces, at = [], 0
    for mark in _marks(text):
        pieces.append(text[at : mark.start()])
        at = mark.end()
    return "".join([*pieces, text[at:]])


def _marks(text: str) -> Iterator[re.Match[str]]:
    code, at = "", 0
    while at < len(text):
        if ticks := _CODE.match(text, at):
            code = _code_after(code, ticks[0])
            at = ticks.end()
        elif not code and (mark := _MARK.match(text, at)):
            yield mark
            at = mark.end()
        else:
            at += 1


def _code_after(code: str, ticks: str) -> str:
    if not code:
        return ticks
    return "" if ticks == code else code


class MarkFilter:
    """Takes marks of passages that are not there out of a text while it is written.

    However the text is cut into pieces, the same text comes out.
    """

    def __init__(self, known: Collection[int]) -> None:
        self._known = frozenset(known)
        self._rest = ""
        self._code = ""

    def feed(self, piece: str) -> str:
        """What is settled by now."""
        self._rest += piece
        return self._settled(is_last=False)

    def finish(self) -> str:
        """What was held back."""
        return self._settled(is_last=True)

    def _settled(self, *, is_last: bool) -> str:
        text, at = self._rest, 0
        out: list[str] = []
        while at < len(text):
            if ticks := _CODE.match(text, at):
                if ticks.end() == len(text) and not is_last:
                    break
                self._code = _code_after(self._code, ticks[0])
                out.append(ticks[0])
                at = ticks.end()
            elif not self._code and (mark := _MARK.match(text, at)):
                out.append(self._kept(mark))
                at = mark.end()
            elif not self._code and not is_last and _BEGUN.match(text, at):
                break
            else:
                out.append(text[at])
                at += 1
        self._rest = text[at:]
        return "".join(out)

    def _kept(self, mark: re.Match[str]) -> str:
        numbers = dict.fromkeys(map(int, _DIGITS.findall(mark[1])))
        kept = "".join(f"[{number}]" for number in numbers if number in self._known)
        gap = mark[0][: len(mark[0]) - len(mark[0].lstrip(" \t"))]
        return gap + kept if kept else ""
