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
from chat.agent.grounded.rules import KIND_WORDS
from chat.agent.grounded.sentences import sentences
from chat.agent.grounded.verdict import Verdict
from chat.agent.grounded.when import without_times
from copilot_site.lib.words import likeness, telling_words, words

Citation = Mapping[str, Any]

# Tuned on the tuning half of bench/grounding; docs/grounding.md has the figures.
SUPPORT = 0.62
_NEAR_BEST = 0.8
_MOST = 5
_WINDOW = 3


@dataclass(frozen=True, slots=True)
class Match:
    """How well one passage covers the question, from 0 to 1."""

    number: int
    score: float
    missing: tuple[str, ...]


def judge(question: str, citations: Sequence[Citation]) -> Verdict:
    """Support is one passage that covers the question, of the kind it asks for."""
    wanted = topic_words(question)
    if not wanted:
        listed = tuple(c["n"] for c in citations if c["kind"] == "record")
        if listed:
            return Verdict(True, listed, 0.8)
        return Verdict(False, reason="not_covered")
    kind = asked_for(question)
    matches = sorted(_matches(wanted, kind, citations), key=lambda match: -match.score)
    best = matches[0]
    if best.score < SUPPORT:
        return Verdict(
            False, score=best.score, reason="not_covered", missing=best.missing
        )
    near = [m for m in matches if m.score >= max(SUPPORT, _NEAR_BEST * best.score)]
    records = [c["n"] for c in citations if c["kind"] == "record"]
    most = max(_MOST, sum(match.number in records for match in near))
    return Verdict(True, tuple(m.number for m in near[:most]), best.score)


def topic_words(question: str) -> list[str]:
    """What is asked about, without days and times, which look-ups filter by."""
    telling = telling_words(without_times(question))
    return [word for word in telling if word not in KIND_WORDS]


def _matches(
    wanted: Sequence[str], kind: AnswerType | None, citations: Sequence[Citation]
) -> list[Match]:
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
        score = sum(weights[word] * hit[word] for word in wanted) / total
        if kind is not None and not kind.found.search(str(citation["text"])):
            score *= 0.5
        missing = tuple(word for word in wanted if not hit[word])
        found.append(Match(int(citation["n"]), score, missing))
    return found


def _words_of(citation: Citation) -> set[str]:
    parts = (citation["title"], citation["location"], citation["text"])
    return set(words(" ".join(map(str, parts))))


def _best(wanted: str, body: set[str]) -> float:
    if wanted in body:
        return 1.0
    return max((likeness(wanted, word) for word in body), default=0.0)


def _specific(word: str) -> float:
    """Numbers and codes decide more than other words."""
    return 1.5 if re.search(r"\d", word) else 1.0


def quotes(question: str, text: str, limit: int = 2) -> list[str]:
    """The sentences of a passage that say most of what is asked for, in order."""
    wanted, kind = topic_words(question), asked_for(question)
    found = sentences(text)
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
