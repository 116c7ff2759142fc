"""Text → the words by which it is found; one way for documents and for questions.

Words are folded (case, accents, plural), stop words left out. Scripts without spaces
become pairs of signs. Addresses and port names are kept whole besides their parts.
"""

import re
import unicodedata
from collections.abc import Iterator

from chat.knowledge.stopwords import UNSPACED, WORDS

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_PIECES = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+")
# 10.0.2.0/24, GigabitEthernet0/1, 00:1a:2b, mod-4.2: parts with a digit among them.
_WHOLE = re.compile(r"(?=[\w.:/-]*\d)[^\W_]+(?:[.:/-][^\W_]+)+", re.ASCII)
_STOPPED = re.compile("|".join(map(re.escape, UNSPACED)))
_MOST_IN_QUESTION = 32
_JOINTS = dict.fromkeys(map(ord, "\u00ad\u2060"))


def terms_of(text: str) -> str:
    """For the index; in the order of the text, as often as they come."""
    return " ".join(_terms(folded(text), is_question=False))


def question_terms(text: str) -> list[str]:
    """Each once, in order; all words where there are only stop words."""
    source = folded(text)
    found = list(dict.fromkeys(_terms(source, is_question=True)))
    return found[:_MOST_IN_QUESTION]


def folded(text: str) -> str:
    """Lower case, without accents; ß is ss. A place to hyphenate parts no word."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.translate(_JOINTS).casefold())
    return unicodedata.normalize(
        "NFC", "".join(sign for sign in plain if not unicodedata.combining(sign))
    )


def stem(word: str) -> str:
    """The English plural off; what might be another word stays."""
    if len(word) < 4 or not word.endswith("s") or not word.isascii():
        return word
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word if word.endswith(("ss", "us", "is")) else word[:-1]


def _terms(text: str, *, is_question: bool) -> Iterator[str]:
    for whole in _WHOLE.findall(text):
        # A letter joins: every index takes it for one word.
        yield re.sub(r"[.:/-]", "z", whole)
    if is_question:
        text = _STOPPED.sub(" ", text) if _is_more_than_stops(text) else text
    for piece in _PIECES.findall(text):
        if piece[0] >= "\u0e00" and re.match(f"[{_UNSPACED}]", piece):
            yield from _pairs(piece)
        elif piece not in _FOLDED_WORDS:
            yield stem(piece)


def _pairs(piece: str) -> Iterator[str]:
    if len(piece) == 1:
        yield piece
    for start in range(len(piece) - 1):
        yield piece[start : start + 2]


def _is_more_than_stops(text: str) -> bool:
    return bool(_PIECES.search(_STOPPED.sub(" ", text)))


_FOLDED_WORDS = frozenset(folded(word) for word in WORDS)
