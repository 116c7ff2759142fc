"""HTML → text, as a stream: however deep it is nested, no tree is built of it."""

import re
from html.parser import HTMLParser
from pathlib import Path

from chat.documents.reading.decode import decoded
from chat.documents.reading.types import Limits, Progress, Reading, Refused, Text

_SKIPPED = {"script", "style", "noscript", "template", "svg", "math", "title", "iframe"}
_BLOCKS = {
    *("p", "div", "section", "article", "header", "footer", "main", "aside", "nav"),
    *("ul", "ol", "dl", "dd", "dt", "table", "blockquote", "figure", "form", "hr"),
}
_LINES = {"br", "li", "tr", "option", "caption"}
_CELLS = {"td", "th"}
_HEADING = re.compile(r"h([1-6])")
_PORTION = 65_536
_CHARSET = re.compile(
    rb"<meta\b[^>]{0,200}?\bcharset\s*=\s*[\"']?([\w.:-]{2,30})", re.I
)
_NOT_SHOWN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
# Their end is often left out, or they have none: what follows must not be lost.
_UNCLOSED = {
    *("li", "td", "th", "tr", "dt", "dd", "option", "caption", "html", "body", "head"),
    *("br", "hr", "img", "input", "link", "meta", "source", "track", "wbr", "col"),
    *("area", "base", "embed", "param", "tbody", "thead", "tfoot", "optgroup"),
}


def read_html(path: Path, limits: Limits, progress: Progress) -> Reading:
    """Raises Refused."""
    source = _source(path.read_bytes())
    parser = _Parser(limits.text_length)
    for start in range(0, len(source), _PORTION):
        parser.feed(source[start : start + _PORTION])
        progress(min(start + _PORTION, len(source)), len(source))
    parser.close()
    text = str(parser.text)
    if not text.strip():
        raise Refused("The page holds no text.")
    return Reading(text, headings=parser.headings)


def _source(data: bytes) -> str:
    """In the encoding that the page names, if it is not Unicode."""
    named = _CHARSET.search(data, 0, 4096)
    if named is None:
        return decoded(data)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    try:
        return data.decode(named[1].decode())
    except (LookupError, UnicodeError):
        return decoded(data)


class _Parser(HTMLParser):
    def __init__(self, limit: int) -> None:
        super().__init__(convert_charrefs=True)
        self.text = Text(limit)
        self.headings: list[tuple[int, int, str]] = []
        self._skipping = ""
        self._depth = 0
        self._is_preformatted = False
        self._heading: tuple[int, int, list[str]] | None = None
        # What stands at the end of the text so far: spaces are not doubled.
        self._end = "\n\n"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        is_block = tag in _BLOCKS or _HEADING.fullmatch(tag)
        if self._skipping == "p" and is_block:
            # It ends a paragraph, whether that is closed or not.
            self._skipping = ""
        if self._skipping:
            self._depth += tag == self._skipping
            return
        if tag in _SKIPPED or (tag not in _UNCLOSED and _is_hidden(attrs)):
            self._skipping, self._depth = tag, 1
        elif level := _HEADING.fullmatch(tag):
            self._break("\n\n")
            self._heading = (self.text.length, int(level[1]), [])
        elif tag == "pre":
            self._break("\n\n")
            self._is_preformatted = True
        elif tag in _BLOCKS:
            self._break("\n\n")
        elif tag in _LINES:
            self._break("\n")
            if tag == "li":
                self._put("- ")
        elif tag in _CELLS and not self._end.endswith("\n"):
            self._put(" | ")

    def handle_endtag(self, tag: str) -> None:
        if self._skipping:
            self._depth -= tag == self._skipping
            if self._depth <= 0:
                self._skipping = ""
            return
        if _HEADING.fullmatch(tag):
            self._end_heading()
            self._break("\n\n")
        elif tag == "pre":
            self._is_preformatted = False
            self._break("\n\n")
        elif tag in _BLOCKS:
            self._break("\n\n")

    def handle_data(self, data: str) -> None:
        if self._skipping:
            return
        if not self._is_preformatted:
            data = re.sub(r"\s+", " ", data)
            if self._end.endswith(("\n", " ")):
                data = data.lstrip(" ")
        if data:
            if self._heading is not None:
                self._heading[2].append(data)
            self._put(data)

    def _end_heading(self) -> None:
        if self._heading is not None:
            offset, level, parts = self._heading
            title = " ".join("".join(parts).split())[:200]
            if title:
                self.headings.append((offset, level, title))
            self._heading = None

    def _break(self, wanted: str) -> None:
        missing = len(wanted) - (len(self._end) - len(self._end.rstrip("\n")))
        if missing > 0 and self.text.length:
            self._put("\n" * missing)

    def _put(self, part: str) -> None:
        self.text.add(part)
        self._end = (self._end + part)[-2:]


def _is_hidden(attrs: list[tuple[str, str | None]]) -> bool:
    """What a reader never sees is no evidence, and may be meant for models alone."""
    return any(
        (name == "hidden" and value != "until-found")
        or (name == "style" and _NOT_SHOWN.search(value or ""))
        for name, value in attrs
    )
