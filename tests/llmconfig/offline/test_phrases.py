from string import Formatter

import pytest

from llmconfig.offline.faults import Fault
from llmconfig.offline.phrases import LANGUAGES


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_language_says_everything_with_the_same_facts(language: str) -> None:
    english, other = LANGUAGES["en"], LANGUAGES[language]

    assert other.keys() == english.keys()
    for key, text in english.items():
        assert placeholders(other[key]) <= placeholders(text), key


def test_every_fault_has_a_name_and_a_sentence() -> None:
    for fault in Fault:
        assert fault.value in LANGUAGES["en"]
        assert f"{fault.value}.detail" in LANGUAGES["en"]
