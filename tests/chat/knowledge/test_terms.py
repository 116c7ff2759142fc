"""Questions and documents fall apart into the same words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.knowledge.terms import question_terms, terms_of


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("Where is the networking lab?", ["networking", "lab"]),
        ("Which courses are there?", ["course"]),
        ("Wo ist das Netzlabor, bitte?", ["netzlabor"]),
        ("Straße & STRASSE", ["strasse"]),
        ("网络实验室在哪里？", ["网络", "络实", "实验", "验室"]),
        ("为什么", ["为什", "什么"]),
        ("10.0.2.0/24", ["10z0z2z0z24", "10", "0", "2", "24"]),
        ("Gi0/1 status", ["gi0z1", "gi0", "1", "status"]),
        ("policies buses classes bus IS-IS", ["policy", "buse", "class", "bus"]),
        ("?!", []),
        ("Netz\u00adlabor of\ufb01ce", ["netzlabor", "office"]),
    ],
)
def test_a_question_is_its_words_without_stop_words(
    question: str, terms: list[str]
) -> None:
    assert question_terms(question) == terms


@given(st.text(max_size=200))
def test_every_text_has_terms_that_any_index_takes_for_words(text: str) -> None:
    for term in terms_of(text).split():
        assert term.isalnum() or any(ord(sign) > 127 for sign in term)


@given(st.text(alphabet="abz 0./:é网络 的\n", max_size=60))
def test_a_text_is_found_by_itself(text: str) -> None:
    asked = question_terms(text)
    known = set(terms_of(text).split())

    # In questions words of asking leave gaps between signs.
    assert {term for term in asked if term.isascii()} <= known
