"""The gate without a model: what a question asks for, found in the passages or not.

Conservative: each telling word of the question counts by how rare it is among the
passages, so one that no passage has weighs most against an answer.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chat.agent.grounded.answer_type import AnswerType, asked_for
from chat.agent.grounded.rules import KIND_SIGNS, KIND_WORDS, ends_of
from chat.agent.grounded.sentences import sentences
from chat.agent.grounded.specifics import has, specifics
from chat.agent.grounded.verdict import Verdict
from chat.agent.grounded.when import without_times
from copilot_site.lib.words import fold, likeness, telling_words, words

Citation = Mapping[str, Any]

# Tuned on the tuning half of bench/grounding; docs/grounding.md has the figures.
SUPPORT = 0.4
_WINDOW_SUPPORT = 0.5
# Of answers that rest on the words of documents, so many are right: how many of the
# words were there says no more about it.
RIGHT_BY_WORDS = 0.7
_SIMILAR = 0.83
_NEAR_BEST = 0.8
# Another record is another thing, however alike.
_NEAR_BEST_WHOLE = 0.95
_MOST = 5
# Of a question with a pasted log in it: all its words would take minutes.
_WORDS = 30
# What stands together: a sentence with its neighbours.
_REACH = 1
# A record is short and was looked up: it is judged as a whole.
_WHOLE = ("record", "row", "memory")


@dataclass(frozen=True, slots=True)
class Match:
    """How well one passage covers the question, from 0 to 1."""

    number: int
    score: float
    is_supporting: bool
    missing: tuple[str, ...]


def judge(
    question: str, citations: Sequence[Citation], similarity: Mapping[int, float]
) -> Verdict:
    """Support is a passage that covers the question in one place, by word and meaning.

    Names and numbers of the question must be there as they are said, and what it asks
    for (a time, a number, an address) in the same place.
    """
    wanted = topic_words(question)
    if not wanted:
        listed = tuple(c["n"] for c in citations if c["kind"] in _WHOLE)
        if listed:
            return Verdict(True, listed, 0.8)
        return Verdict(False, reason="not_covered")
    matches = sorted(
        _matches(question, wanted, citations, similarity), key=lambda m: -m.score
    )
    supporting = [match for match in matches if match.is_supporting]
    if not supporting:
        best = matches[0]
        return Verdict(
            False, score=best.score, reason="not_covered", missing=best.missing
        )
    best = supporting[0]
    whole = {c["n"] for c in citations if c["kind"] in _WHOLE}
    near = [
        match
        for match in supporting
        if match.score
        >= best.score * (_NEAR_BEST_WHOLE if match.number in whole else _NEAR_BEST)
    ]
    most = max(_MOST, sum(match.number in whole for match in near))
    score = best.score if best.number in whole else RIGHT_BY_WORDS
    return Verdict(True, tuple(match.number for match in near[:most]), score)


def topic_words(question: str) -> list[str]:
    """What is asked about, without days and times, which look-ups filter by."""
    asked = without_times(ends_of(question))
    telling = telling_words(KIND_SIGNS.sub(" ", asked))
    return [word for word in telling if word not in KIND_WORDS][:_WORDS]


def _matches(
    question: str,
    wanted: Sequence[str],
    citations: Sequence[Citation],
    similarity: Mapping[int, float],
) -> list[Match]:
    kind, names = asked_for(ends_of(question)), specifics(ends_of(question))
    bodies = [_words_of(citation) for citation in citations]
    hits = [{word: _best(word, body) for word in wanted} for body in bodies]
    weights = {
        word: math.log1p(len(hits) / (1 + sum(hit[word] > 0 for hit in hits)))
        * _specific(word)
        for word in wanted
    }
    total = sum(weights.values())
    found = []
    for citation, hit in zip(citations, hits, strict=True):
        number = int(citation["n"])
        score = sum(weights[word] * hit[word] for word in wanted) / total
        is_supporting = (
            score >= SUPPORT
            and similarity.get(number, 1.0) >= _SIMILAR
            and all(has(name, fold(_said(citation))) for name in names)
            and _in_one_place(citation, wanted, kind)
        )
        missing = tuple(word for word in wanted if not hit[word])
        found.append(Match(number, score, is_supporting, missing))
    return found


def _in_one_place(
    citation: Citation, wanted: Sequence[str], kind: AnswerType | None
) -> bool:
    """Whether half of what is asked stands around one sentence of the right kind."""
    if citation["kind"] in _WHOLE:
        return kind is None or bool(kind.found.search(_said(citation)))
    found = sentences(str(citation["text"]))
    for at, sentence in enumerate(found):
        if kind is not None and not kind.found.search(sentence):
            continue
        around = set(words(" ".join(found[max(0, at - _REACH) : at + _REACH + 1])))
        share = sum(_best(word, around) for word in wanted) / len(wanted)
        if share >= _WINDOW_SUPPORT:
            return True
    return False


def _said(citation: Citation) -> str:
    parts = (citation["title"], citation["location"], citation["text"])
    return " ".join(map(str, parts))


def _words_of(citation: Citation) -> set[str]:
    return set(words(_said(citation)))


def _best(wanted: str, body: set[str]) -> float:
    if wanted in body:
        return 1.0
    return max((likeness(wanted, word) for word in body), default=0.0)


def _specific(word: str) -> float:
    """Numbers and codes decide more than other words."""
    return 1.5 if re.search(r"\d", word) else 1.0


# Headings say nothing alone. Orders to an assistant are no part of any answer.
_SKIPPED = re.compile(
    r"^#|</?\w+>|\b(?:assistants?|chatbots?|language models?|AI|LLM)\b.*\b(?:must"
    r"|should|shall|answer|reply|say|tell|ignore)|\bsystem\s*:|\b(?:ignore|disregard|forget)\b"
    r".*\b(?:instructions?|above|previous|rules)|\b(?:assistenten?|KI)\b.*\b(?:antwort\w*"
    r"|soll\w*|muss|müssen|sag\w*)|\bignoriere?\w*\b|(?:助手|人工智能|AI).*(?:请|必须|应|回答)"
    r"|忽略.*(?:指令|规则|以上)",
    re.IGNORECASE,
)


def quotes(question: str, text: str, limit: int = 3) -> list[str]:
    """The sentences of a passage that say most of what is asked for, in order."""
    wanted, kind = topic_words(question), asked_for(ends_of(question))
    found = [one for one in sentences(text) if not _SKIPPED.search(one)]
    if not wanted:
        return found[:limit]
    ranked = sorted(
        range(len(found)), key=lambda at: (-_value(found, at, wanted, kind), at)
    )
    return [found[at] for at in sorted(ranked[:limit])]


def _value(
    found: Sequence[str], at: int, wanted: Sequence[str], kind: AnswerType | None
) -> float:
    """By its own words; half of those just before it, which it may point to."""
    own = set(words(found[at]))
    value = sum(_best(word, own) for word in wanted)
    if at:
        before = set(words(found[at - 1]))
        value += sum(_best(word, before) for word in wanted) / 2
    if kind is not None and kind.found.search(found[at]):
        value += 1.0
    return value
