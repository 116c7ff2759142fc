"""The sentences of the offline model in the languages it answers in."""

from collections.abc import Mapping

from llmconfig.offline.phrases import de, en, zh

LANGUAGES: Mapping[str, Mapping[str, str]] = {
    "en": en.PHRASES,
    "de": de.PHRASES,
    "zh": zh.PHRASES,
}


def say(language: str, key: str, facts: Mapping[str, str] | None = None) -> str:
    """The sentence with the facts filled in."""
    return LANGUAGES.get(language, en.PHRASES)[key].format_map(dict(facts or {}))
