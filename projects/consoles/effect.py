"""What a command line may do, and how abbreviations are read."""

from collections.abc import Iterable
from enum import StrEnum


class Effect(StrEnum):
    READ = "read"
    CHANGE = "change"
    REFUSED = "refused"


def worst(effects: Iterable[Effect]) -> Effect:
    found = set(effects)
    for effect in (Effect.REFUSED, Effect.CHANGE):
        if effect in found:
            return effect
    return Effect.READ


def expand(word: str, verbs: Iterable[str]) -> list[str]:
    """The verbs that a word is or abbreviates."""
    known = list(verbs)
    return [word] if word in known else [v for v in known if v.startswith(word)]
