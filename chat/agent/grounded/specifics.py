"""What a question is about by name: numbers, codes, names; they must be there."""

import re

from copilot_site.lib.words import fold
from llmconfig.offline.words import language_of

_TOKEN = re.compile(r"[^\W_](?:[\w.'/-]*[^\W_])?")
_POSSESSIVE = re.compile(r"['’]s$")
_BEGINS = '.?!:"“'


def specifics(question: str) -> list[str]:
    """In order. German writes every noun large, so there only numbers and codes."""
    has_names = language_of(question) != "de"
    found = []
    for token in _TOKEN.finditer(question):
        word = _POSSESSIVE.sub("", token[0])
        before = question[: token.start()].rstrip()
        is_first = not before or before[-1] in _BEGINS
        is_name = has_names and not is_first and word[0].isupper() and len(word) > 2
        is_code = len(word) > 1 and word.isascii() and word.isupper()
        if is_name or is_code or any(map(str.isdigit, word)):
            found.append(word)
    return found


def has(word: str, folded: str) -> bool:
    """As it stands: 5.0 is not in 5.0.1, nor Wren in Wrenfield."""
    wanted = re.escape(fold(word))
    return bool(re.search(rf"(?<!\w){wanted}(?!\w)(?!\.\d)", folded))
