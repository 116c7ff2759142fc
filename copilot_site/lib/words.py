"""Words of short texts, and how well texts answer a few of them.

For records and notes: spelling, case, accents and small slips do not matter.
"""

import math
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

_SAME_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "ø": "oe", "œ": "oe", "ł": "l", "đ": "d", "ı": "i"}
)
# Müller, Mueller and Muller are one name.
_UMLAUT = re.compile("([aou])e")
_WORD = re.compile(r"[^\W_]+")
# Chinese and Japanese are written without gaps.
_UNBROKEN = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")
_STOP_PHRASES = re.compile(
    "有没有|有哪些|有什么|在哪里|在哪儿|是什么|什么时候|什么|哪里|哪些|哪个|哪|请问|告诉我"
    "|列出|所有|多少|一下|吗|呢|的|了|是|在|有|谁|和|与|我|你"
)
_STOP_WORDS = """
a about all also am an and any are as at be been by can could did do does for from get
give had has have her here his how i if in into is it its list many me much my no not of
on one or our out please show so some tell than that the their them then there these
they this those to too us was we were what when where which who whom whose why will with
would you your
aber alle allem allen aller alles als am an auch auf aus bei bis bitte da dann das dass
dem den denn der des die dir doch du ein eine einem einen einer eines er es fur gibt
hab habe haben hat ich ihm ihn ihr im in ist ja kann kannst kein keine konnen liste man
mein meine mir mit nach nicht noch nun oder sag sagen sein seine sich sie sind so um und
uns unter vom von vor wann war waren warum was welche welchem welchen welcher welches
wem wen wenn wer werden weshalb wie wieviel wieviele wird wo wohin wurde zeig zeige zu
zum zur
"""
# As a person is called, not how.
_TITLES = """
dr prof professor professorin mr mrs ms miss herr herrn frau dipl ing med phd msc bsc
sir madam
"""
_UNBROKEN_TITLES = re.compile("教授|博士|老师|先生|女士")
_WEAK = 0.7
_BEGINNING, _ENDING = 0.85, 0.8
_ALIKE = 80.0


def fold(text: str) -> str:
    """Without case, accents and ways to write an umlaut."""
    if text.isascii():
        return _UMLAUT.sub(r"\1", text.lower())
    text = unicodedata.normalize("NFKC", text).casefold().translate(_SAME_LETTERS)
    letters = unicodedata.normalize("NFD", text)
    plain = "".join(char for char in letters if not unicodedata.combining(char))
    return _UMLAUT.sub(r"\1", unicodedata.normalize("NFC", plain))


STOP_WORDS = frozenset(fold(_STOP_WORDS).split())
TITLES = frozenset(fold(_TITLES).split())


def words(text: str) -> list[str]:
    """Folded, in order; of an unbroken script every two neighbours are one."""
    if text.isascii():
        return [word for word in _WORD.findall(fold(text)) if word not in TITLES]
    return [
        word
        for found in _WORD.findall(fold(text))
        for word in _pieces(_UNBROKEN_TITLES.sub(" ", found))
        if word not in TITLES
    ]


def telling_words(text: str) -> list[str]:
    """Those that say what is looked for; each once."""
    plain = _STOP_PHRASES.sub(" ", fold(text))
    found = dict.fromkeys(words(plain))
    return [word for word in found if word not in STOP_WORDS]


def squeezed(text: str) -> str:
    """NET-201, net 201 and NET201 are one."""
    return "".join(_WORD.findall(fold(text)))


def _pieces(found: str) -> Iterator[str]:
    for word in _UNBROKEN.sub(lambda run: f" {run[0]} ", found).split():
        if _UNBROKEN.match(word) and len(word) > 1:
            yield from (word[at : at + 2] for at in range(len(word) - 1))
        else:
            yield word


def likeness(wanted: str, word: str) -> float:
    """1 for the same word, less for a beginning or a slip, 0 for another word."""
    if wanted == word:
        return 1.0
    shorter = min(len(wanted), len(word))
    # 201 is not like 202, and R1 not like R2.
    if shorter < 3 or any(map(str.isdigit, wanted + word)):
        return 0.0
    if word.startswith(wanted):
        return _BEGINNING
    if wanted.startswith(word) and (shorter > 4 or len(wanted) - shorter < 3):
        return _ENDING
    if shorter < 4:
        return 0.0
    if _common(wanted, word) >= max(6, 0.65 * max(len(wanted), len(word))):
        return _ENDING
    return fuzz.ratio(wanted, word, score_cutoff=_ALIKE) / 100 * 0.9


def _common(one: str, two: str) -> int:
    """Letters with which both begin: networks and networking have seven."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, two, strict=False)) if a != b),
        min(len(one), len(two)),
    )


@dataclass(frozen=True, slots=True)
class Searchable:
    """A text's words: those of its name count more than the others."""

    strong: Collection[str]
    weak: Collection[str] = ()


def scores(wanted: Sequence[str], texts: Sequence[Searchable]) -> list[float]:
    """How much of what is wanted each text has, from 0 to 1; rare words count more."""
    if not wanted or not texts:
        return [0.0] * len(texts)
    vocabulary = {word for text in texts for word in (*text.strong, *text.weak)}
    total = 0.0
    sums = [0.0] * len(texts)
    for one in wanted:
        hits = {word: score for word in vocabulary if (score := likeness(one, word))}
        found = [_best(hits, text) for text in texts] if hits else []
        frequency = sum(map(bool, found))
        weight = math.log1p(len(texts) / (1 + frequency))
        total += weight
        for at, score in enumerate(found):
            sums[at] += weight * score
    return [score / total for score in sums]


def _best(hits: dict[str, float], text: Searchable) -> float:
    strong = max((hits.get(word, 0.0) for word in text.strong), default=0.0)
    if strong == 1.0:
        return strong
    weak = max((hits.get(word, 0.0) for word in text.weak), default=0.0)
    return max(strong, weak * _WEAK)
