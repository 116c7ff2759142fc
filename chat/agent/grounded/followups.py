"""Fragments that lean on what was said before: "what else?", "und am Dienstag?"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chat.agent.grounded.when import without_days
from copilot_site.lib.words import telling_words

# "what else", "why", "more": nothing of their own to look for.
_BARE = re.compile(
    r"^\W*(?:and\s+|but\s+|ok(?:ay)?[,\s]+|und\s+|aber\s+)?(?:"
    r"(?:what|anything|who|where|which)\s+else|why(?:\s+not|\s+is\s+that)?|how\s+come"
    r"|(?:tell\s+me\s+|show\s+me\s+)?(?:some\s+)?more(?:\s+details?)?|go\s+on|continue"
    r"|really|since\s+when|when|where|who|how(?:\s+much|\s+many|\s+long)?|details?"
    r"|(?:was|wer|wo|welche)\s+(?:noch|sonst)(?:\s+noch)?|sonst\s+noch(?:\s+\w+)?"
    r"|warum(?:\s+nicht)?|wieso|weshalb|mehr(?:\s+dazu)?|weiter|wirklich|seit\s+wann"
    r"|wann|wo|wer|wie\s*(?:viele?|lange)?"
    r"|还有(?:什么|哪些|吗|呢|别的)*|为什么(?:呢)?|为何|怎么回事|更多|继续|然后呢|什么时候"
    r"|在哪里?|谁|多少)\W*$",
    re.IGNORECASE,
)
_ELSE = re.compile(
    r"\belse\b|\bmore\b|\bnoch\b|\bsonst\b|\bmehr\b|还有|更多|别的|其他", re.IGNORECASE
)
_AND = re.compile(
    r"^\W*(?:and|or|but|what about|how about|und|oder|aber|was ist mit|wie ist es mit"
    r"|wie sieht es mit|那么|那|和|还有)[\s,，]*(?=\S)|^\W*\S{1,12}呢\W*$",
    re.IGNORECASE,
)
# Not "that", "there", "sie", "es", "das": most often they point at nothing.
_POINTING = re.compile(
    r"\b(?:it|its|they|them|their|this|these|those|he|she|his|her|him|that one)\b"
    r"|\b(?:er|ihn|ihm|dort|davon|dazu|damit|diese[nmrs]?)\b"
    r"|它|他们?|她们?|那里|这个|那个|其中",
    re.IGNORECASE,
)
_FEW = 3
# What is longer has a topic of its own.
_LONGEST = 300
# "Who is that?" points at what was said; "Who is the dean?" does not.
_POINTING_FEW = 2


@dataclass(frozen=True, slots=True)
class Resolved:
    """A question that stands alone; `asks_for_more`: not what was cited before."""

    text: str
    is_follow_up: bool = False
    asks_for_more: bool = False


def resolve(question: str, earlier: Sequence[str]) -> Resolved:
    """`earlier`: the person's questions before, oldest first."""
    if not earlier or not is_fragment(question):
        return Resolved(question)
    topic = _topic(earlier)
    if without_days(question) != question:
        # Another day in place of the one that was asked about.
        topic = without_days(topic)
    if _BARE.match(question) and _ELSE.search(question):
        # No passage is about "else".
        return Resolved(topic, True, asks_for_more=True)
    fragment = _AND.sub("", question.strip()) if not _BARE.match(question) else ""
    text = " ".join(f"{topic.rstrip(' ?？!。.')} {fragment or question}".split())
    return Resolved(text, True)


def is_fragment(question: str) -> bool:
    """Whether it says too little to be looked for alone."""
    if len(question) > _LONGEST:
        return False
    if _BARE.match(question):
        return True
    own = len(telling_words(without_days(question)))
    if own == 0:
        return True
    if _AND.match(question) and own <= _FEW:
        return True
    return bool(_POINTING.search(question)) and own <= _POINTING_FEW


def _topic(earlier: Sequence[str]) -> str:
    """The newest question that stands alone, with the fragments since then."""
    for at in range(len(earlier) - 1, -1, -1):
        if not is_fragment(earlier[at]):
            return earlier[at]
    return earlier[-1]
