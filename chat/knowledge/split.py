"""A document's text → passages that can be read for themselves.

Passages have 400 to 1200 characters where the text allows it, end where a paragraph or
a sentence ends, and begin with the sentence before where that is short. Together they
hold everything but white space.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

LEAST = 400
WANTED = 800
MOST = 1200
_OVERLAP = 160
Heading = Sequence[object]

_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_LINE = re.compile(r"\n\s*")
_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？；])|\n\s*")
_SPACE = re.compile(r"\s+")
# Such signs say as much as two or three letters.
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Piece:
    """`text[start:end]`, under these headings, on these pages (from 1)."""

    start: int
    end: int
    headings: tuple[str, ...] = ()
    page: int | None = None
    last_page: int | None = None


@dataclass(frozen=True, slots=True)
class _Atom:
    """Not cut any further; runs on to the next one's start."""

    start: int
    end: int
    # Begins a section, or a paragraph.
    is_section: bool = False
    is_paragraph: bool = False


def split(
    text: str,
    *,
    headings: Sequence[Heading] = (),
    pages: Sequence[int] = (),
    is_lines: bool = False,
) -> list[Piece]:
    """In the order of the text."""
    share = len(_DENSE.findall(text[:20_000])) / max(1, len(text[:20_000]))
    scale = 0.5 if share > 0.3 else 1.0
    # Rows of a table and lines of a configuration need no line before.
    overlap = 0 if is_lines else int(_OVERLAP * scale)
    most = int(MOST * scale) - overlap
    atoms = list(_atoms(text, headings, is_lines, most))
    paths = _Paths(headings)
    found: list[Piece] = []
    for first, last in _packed(atoms, scale, most):
        start, end = _begin(text, atoms, first, overlap), atoms[last].end
        begin, finish = _trimmed(text, start, end)
        if found and begin <= found[-1].start:
            # A short passage before is not said whole once more.
            begin, finish = _trimmed(text, atoms[first].start, end)
        if begin < finish:
            found.append(
                Piece(
                    begin,
                    finish,
                    paths.at(begin, finish),
                    _page(pages, begin),
                    _page(pages, finish - 1),
                )
            )
    return found


def _atoms(
    text: str, headings: Sequence[Heading], is_lines: bool, most: int
) -> Iterator[_Atom]:
    sections = sorted({0, *(_offset(heading) for heading in headings)})
    borders = [*(place for place in sections if place < len(text)), len(text)]
    for start, end in pairwise(borders):
        is_section = start > 0
        paragraphs = _cut(text, start, end, _LINE if is_lines else _PARAGRAPH)
        for first, last in paragraphs:
            is_paragraph = True
            for one, other in _fine(text, first, last, most):
                yield _Atom(one, other, is_section, is_paragraph)
                is_section = is_paragraph = False


def _fine(text: str, start: int, end: int, most: int) -> Iterator[tuple[int, int]]:
    """Sentences of what is too long; words, or just signs, of long sentences."""
    if end - start <= most:
        yield start, end
        return
    for first, last in _cut(text, start, end, _SENTENCE):
        while last - first > most:
            # At the last space that fits; a word without end is cut anywhere.
            spaces = [
                space.end()
                for space in _SPACE.finditer(text, first + most // 2, first + most)
            ]
            border = spaces[-1] if spaces else first + most
            yield first, border
            first = border
        yield first, last


def _cut(
    text: str, start: int, end: int, border: re.Pattern[str]
) -> Iterator[tuple[int, int]]:
    """Parts without a gap: what separates two belongs to the first."""
    first = start
    for found in border.finditer(text, start, end):
        if first < found.end() < end:
            yield first, found.end()
            first = found.end()
    if first < end:
        yield first, end


def _packed(
    atoms: Sequence[_Atom], scale: float, most: int
) -> Iterator[tuple[int, int]]:
    """Which atoms make a passage: first and last."""
    least, wanted = int(LEAST * scale), int(WANTED * scale)
    first = 0
    for place in range(1, len(atoms) + 1):
        size = atoms[place - 1].end - atoms[first].start
        if place < len(atoms):
            atom = atoms[place]
            is_full = atom.end - atoms[first].start > most
            is_good_end = (atom.is_section and size >= least) or (
                atom.is_paragraph and size >= wanted
            )
            if not (is_full or is_good_end):
                continue
        yield first, place - 1
        first = place


def _begin(text: str, atoms: Sequence[_Atom], first: int, overlap: int) -> int:
    """With the sentence before, where it is short and of the same section."""
    start = atoms[first].start
    if first == 0 or not overlap or atoms[first].is_section:
        return start
    floor = max(start - overlap, atoms[first - 1].start)
    ends = [
        found.end()
        for found in _SENTENCE.finditer(text, floor, start)
        if found.end() < start
    ]
    if ends:
        return ends[0]
    return floor if floor == atoms[first - 1].start else start


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    return start, start + len(piece.strip())


def _page(pages: Sequence[int], offset: int) -> int | None:
    return bisect_right(pages, offset) or 1 if pages else None


def _offset(heading: Heading) -> int:
    offset = heading[0]
    assert isinstance(offset, int)
    return offset


class _Paths:
    """Which headings stand over a place."""

    def __init__(self, headings: Sequence[Heading]) -> None:
        self._offsets: list[int] = []
        self._paths: list[tuple[str, ...]] = []
        stack: list[tuple[int, str]] = []
        for heading in sorted(headings, key=_offset):
            level, title = int(str(heading[1])), str(heading[2])
            stack = [item for item in stack if item[0] < level] + [(level, title)]
            self._offsets.append(_offset(heading))
            self._paths.append(tuple(title for _, title in stack))

    def at(self, start: int, end: int) -> tuple[str, ...]:
        """What all sections of a piece have in common; the first's, if nothing."""
        first = bisect_right(self._offsets, start) - 1
        last = bisect_right(self._offsets, end - 1) - 1
        inside = self._paths[max(first, 0) : last + 1]
        if not inside:
            return ()
        common = inside[0]
        for path in inside[1:]:
            same = 0
            while same < min(len(common), len(path)) and common[same] == path[same]:
                same += 1
            common = common[:same]
        return common or inside[0]
