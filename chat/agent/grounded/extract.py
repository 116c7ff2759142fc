"""An answer without a model: sentences of the passages, word for word, each cited."""

from collections.abc import Mapping, Sequence
from typing import Any

from chat.agent.grounded.overlap import quotes
from chat.agent.grounded.phrases import say
from chat.agent.grounded.sentences import plain

_LONGEST = 700
_MOST = 30
_BRACKETS = str.maketrans("[]【】［］", "()()()")
# A record is one thing, not prose: it is told whole.
_WHOLE = ("record", "row", "memory")


def extract(question: str, citations: Sequence[Mapping[str, Any]]) -> str:
    """Markdown: one line a statement, in the order of the passages."""
    lines = [line for one in citations[:_MOST] for line in _lines(question, one)]
    kinds = {citation["kind"] for citation in citations}
    frame = "listed" if kinds <= {"record", "row"} else "quoted"
    return "\n".join([say(frame, question), "", *lines])


def _lines(question: str, citation: Mapping[str, Any]) -> list[str]:
    text, mark = str(citation["text"]), f"[{citation['n']}]"
    if citation["kind"] in _WHOLE:
        return [f"- {_cut(_record(citation, text))} {mark}"]
    found = [plain(sentence) for sentence in quotes(question, text)]
    return [f"- {_cut(sentence)} {mark}" for sentence in dict.fromkeys(found)]


def _record(citation: Mapping[str, Any], text: str) -> str:
    told = "; ".join(part for part in map(plain, text.splitlines()) if part)
    title = str(citation["title"]).strip()
    if not title or told.casefold().startswith(title.casefold()):
        return told
    return f"**{plain(title)}**: {told}"


def _cut(text: str) -> str:
    """At a word; brackets would look like marks of ours."""
    text = text.translate(_BRACKETS)
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST].rsplit(' ', 1)[0]} …"
