"""A passage as sentences, for quoting and for looking at one claim at a time."""

import re

_ABBREVIATION = re.compile(
    r"\b(?:Dr|Prof|Mr|Mrs|Ms|St|No|Nr|vs|etc|e\.g|i\.e|z\.B|d\.h|u\.a|ca|bzw|usw|Abs"
    r"|approx|Fig|Sec|max|min|Str|\w)\.$",
    re.IGNORECASE,
)
_END = re.compile(r"(?<=[.!?])[\"”’)\]]*\s+|(?<=[。！？；])\s*")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)]|#+|>|\|)\s*")
_EMPHASIS = re.compile(r"\*\*|__|`")


def sentences(text: str) -> list[str]:
    """In order; lines of lists and tables stand for themselves."""
    found: list[str] = []
    for paragraph in _paragraphs(text):
        begun = ""
        for part in _END.split(paragraph):
            begun = f"{begun} {part}".strip()
            if not _ABBREVIATION.search(begun):
                found.append(begun)
                begun = ""
        if begun:
            found.append(begun)
    return [sentence for sentence in found if any(map(str.isalnum, sentence))]


def plain(sentence: str) -> str:
    """One line that Markdown leaves as it is."""
    text = _EMPHASIS.sub("", _BULLET.sub("", sentence))
    return " ".join(text.split()).strip("| ")


def _paragraphs(text: str) -> list[str]:
    """Wrapped lines joined; a heading, list item or table row begins anew."""
    found: list[str] = []
    is_open = False
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped or set(stripped) <= set("-=|: "):
            is_open = False
        elif is_open and not _BULLET.match(line):
            found[-1] += f" {stripped}"
        else:
            found.append(stripped)
            is_open = not stripped.startswith(("#", "|"))
    return found
