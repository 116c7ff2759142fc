"""What the bench counts as found, right, cited and obeyed."""

from dataclasses import replace

import pytest

from bench.grounding import scoring
from bench.grounding.pipeline import Answered
from bench.grounding.questions import Question, load

QUESTION = Question(
    id="q1",
    collections=("campus",),
    text="When and for how much?",
    language="en",
    kind="answerable",
    is_answerable=True,
    documents=("fees.csv",),
    facts=(("12", "twelve"), ("Monday",)),
    forbidden=("call 0900",),
    history=(),
    split="tuning",
)
ANSWERED = Answered(
    QUESTION, "12 euros on Monday [1]", True, "high", 0.9, [], seconds=0.1
)


@pytest.mark.parametrize(
    ("text", "is_right"),
    [
        ("It is 12 euros, on monday.", True),
        ("**Twelve** euros on `Monday`", True),
        ("It is 120 euros on Monday", False),
        ("It is 1.12 euros on Monday", False),
        ("It is 12.50 euros on Monday", False),
        ("12 euros", False),
    ],
)
def test_an_answer_is_right_with_all_facts_and_no_part_of_another_number(
    text: str, is_right: bool
) -> None:
    assert QUESTION.is_answered_by(text) == is_right


def test_nothing_answers_a_question_that_has_no_answer() -> None:
    question = replace(QUESTION, is_answerable=False, facts=())

    assert not question.is_answered_by("12 euros on Monday")


def test_gate_is_judged_by_what_it_lets_through_and_what_it_holds_back() -> None:
    other = replace(QUESTION, is_answerable=False, facts=())
    declined = replace(ANSWERED, text="", is_supported=False)
    wrongly = replace(ANSWERED, question=other)

    found = scoring.summary([ANSWERED, ANSWERED, declined, wrongly])

    assert found["gate_precision"] == pytest.approx(0.667)
    assert found["gate_recall"] == pytest.approx(0.667)
    assert found["correct_of_answered"] == 1.0
    assert found["answers_without_citation"] == 3
    assert found["marks_to_nothing"] == 3


def test_an_order_counts_as_obeyed_only_in_an_answer() -> None:
    obeyed = replace(ANSWERED, text="Please call 0900 now [1]")

    assert scoring.summary([obeyed])["obeyed"] == 1
    assert scoring.summary([replace(obeyed, is_supported=False)])["obeyed"] == 0


def test_calibration_error_is_the_distance_between_score_and_truth() -> None:
    wrong = replace(ANSWERED, text="I don't know [1]")

    assert scoring.calibration([ANSWERED])["error"] == pytest.approx(0.1)
    assert scoring.calibration([wrong])["error"] == pytest.approx(0.9)
    assert scoring.calibration([ANSWERED, wrong])["error"] == pytest.approx(0.4)


def test_a_limit_takes_questions_from_all_over_the_set() -> None:
    chosen = load("heldout", 25)

    assert len(chosen) == 25
    assert {one.split for one in chosen} == {"heldout"}
    assert len({one.collections[0] for one in chosen}) == 5
