"""Kinds of record that operators have defined: asked for by what they are called."""

import re
from collections.abc import Iterator, Sequence

from chat.agent.grounded.rules import KIND_SIGNS, KIND_WORDS, LOOKUP_TEXT, spoken
from chat.agent.grounded.steps import Step
from chat.agent.grounded.when import without_times
from chat.agent.tools.kit import OwnKind
from copilot_site.lib.words import telling_words

TOOL = "lookup_records"


def match_own(question: str, kinds: Sequence[OwnKind]) -> Iterator[Step]:
    """A look-up for each kind that the question names, with the words left over."""
    asked = set(telling_words(question))
    for kind in kinds:
        said = [
            name
            for name in kind.names
            if (parts := telling_words(name)) and asked.issuperset(parts)
        ]
        if said:
            arguments = {"kind": kind.slug}
            if rest := _rest(question, said):
                arguments["text"] = rest[:LOOKUP_TEXT]
            yield Step(TOOL, arguments)


def _rest(question: str, names: Sequence[str]) -> str:
    """The telling words, without those that name the kind."""
    plain = KIND_SIGNS.sub(" ", without_times(question))
    for name in names:
        plain = re.sub(re.escape(name), " ", plain, flags=re.IGNORECASE)
    named = {word for name in names for word in telling_words(name)}
    return " ".join(
        word
        for word in spoken(plain)
        if word.casefold() not in KIND_WORDS
        and not named.intersection(telling_words(word))
    )
