"""Which files came with a question, and whether the question is about them."""

import re
from dataclasses import dataclass

from llmconfig.offline.words import Intent

# What is written below a question for the model; nobody has said it.
_NOTES = re.compile(
    r"\n\n\[Attached: (?P<names>[^\n]*)\]"
    r"(?:\n\[Pictures that you can't see: [^\n]*\])?\Z"
)
_ONE = re.compile(r"(?:^|, )(?P<name>.+?) \([a-z]+\)(?=, |$)")
_FILE_NAME = re.compile(
    r"(?<![\w.])[\w-]+(?:\.[\w-]+)*"
    r"\.(?:txt|md|markdown|html?|pdf|docx|csv|tsv|cfg|conf|config|log)(?![A-Za-z0-9])",
    re.I,
)
_ATTACHED = re.compile(
    r"\battach\w*|\bupload\w*|\banhang\b|\bangehängt\w*|\bhochgeladen\w*|附件|上传",
    re.I,
)
# Less sure: a lab has files and logs too.
_OF_FILES = re.compile(
    r"\b(?:files?|documents?|pdf|csv|spreadsheet)\b|\b(?:this|the) log\b"
    r"|\bsummari[sz]e\b|\bdatei(?:en)?\b|\bdokumente?n?s?\b|\b(?:dieses|das) log\b"
    r"|\bfasse\b.*\bzusammen|文件|文档|日志|总结|概括",
    re.I,
)
_POINTS = re.compile(
    r"\b(?:this|these|it|that)\b|\b(?:dies\w*|das|darin)\b|这|其中", re.I
)
# These change the lab: a file that is named there tells how, and is not the question.
_DEEDS = {
    *(Intent.FIX, Intent.ADDRESS, Intent.CREATE, Intent.LINK),
    *(Intent.START, Intent.STOP, Intent.RUN),
}


@dataclass(frozen=True)
class Asked:
    """A person's words, without the notes, and the files that came with them."""

    text: str
    files: tuple[str, ...] = ()


def without_notes(text: str) -> Asked:
    found = _NOTES.search(text)
    if found is None:
        return Asked(text)
    names = tuple(one["name"] for one in _ONE.finditer(found["names"]))
    return Asked(text[: found.start()], names)


def is_about_files(text: str, files: tuple[str, ...], intent: Intent) -> bool:
    """`files`: those that came with this very question."""
    if intent in _DEEDS:
        return False
    if _FILE_NAME.search(text) or _ATTACHED.search(text):
        return True
    if intent in {Intent.UNKNOWN, Intent.SHOW} and _OF_FILES.search(text):
        return True
    return bool(files) and (intent is Intent.UNKNOWN or bool(_POINTS.search(text)))


def names_in(text: str, names: list[str]) -> list[str]:
    """The files that a text names, also without their ending."""
    lower = text.casefold()
    whole = [name for name in names if name.casefold() in lower]
    if whole:
        return whole
    stems = {name: name.rsplit(".", 1)[0] for name in names}
    return [
        name
        for name, stem in stems.items()
        if re.search(rf"(?<![\w.]){re.escape(stem)}(?![\w.])", text, re.I)
    ]


def unknown_name(text: str, names: list[str]) -> str:
    """A file that is named and is not there."""
    known = [name.casefold() for name in names]
    for found in _FILE_NAME.finditer(text):
        # Some names have gaps, and some scripts have none.
        said = found[0].casefold()
        if not any(name.endswith(said) or said.endswith(name) for name in known):
            return found[0]
    return ""
