import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.agent.citing import MarkFilter, marked, without_marks

PIECES = [
    "text ",
    "[1]",
    " [2]",
    "[1, 9]",
    "[1-3]",
    "【3】",
    "【3†source】",
    "[1](https://x.test)",
    "[2]: ",
    "`x[1]`",
    "```\n[2]\n```",
    "[",
    "]",
]
STRAY = ["[^1]", "\n", "\n\n", "[note]", "9]", "`", "``", "```", "    ", "(", ":", "†"]
TEXTS = st.lists(st.sampled_from([*PIECES, *STRAY, "x" * 60]))


def cleaned(text: str, cuts: list[int], known: tuple[int, ...] = (1, 3)) -> str:
    marks, out, at = MarkFilter(known), "", 0
    for cut in [*sorted(cut % (len(text) + 1) for cut in cuts), len(text)]:
        out += marks.feed(text[at:cut])
        at = cut
    return out + marks.finish()


@given(TEXTS, st.lists(st.integers(0, 600)))
def test_any_cutting_gives_the_same_text(parts: list[str], cuts: list[int]) -> None:
    text = "".join(parts)

    assert cleaned(text, cuts) == cleaned(text, [])
    assert cleaned(text, list(range(len(text)))) == cleaned(text, [])
    assert set(marked(cleaned(text, cuts))) <= {1, 3}


def test_marks_that_point_to_nothing_go_with_the_gap_before_them() -> None:
    assert cleaned("It opens at ten [7]. So [1, 8]!", []) == "It opens at ten. So [1]!"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("开放【3】。 Yes [^1]", "开放[3]。 Yes [1]"),
        ("Ten 【1†source】, or ［3］.", "Ten [1], or [3]."),
        ("Both say so [1-3].", "Both say so [1][3]."),
        ("Both say so [1 and 3].", "Both say so [1][3]."),
        # Would be a link to wherever a passage wants it.
        ("Ten [1](https://elsewhere.test/?q=1).", "Ten [1]."),
        (
            "Ten [1].\n\n[1]: https://elsewhere.test",
            "Ten [1].\n\n[1] https://elsewhere.test",
        ),
        ("So says [1]: ten.", "So says [1]: ten."),
        ("So says [8]: ten.", "So says: ten."),
    ],
)
def test_marks_of_other_forms_become_ours(said: str, told: str) -> None:
    assert cleaned(said, []) == told
    assert cleaned(said, list(range(len(said)))) == told


def test_what_is_no_mark_stays() -> None:
    text = "Ports Gi0/[1-24], [2026], [note], [1 (see](below)."

    assert cleaned(text, []) == text
    assert marked(text) == []


def test_code_is_left_alone() -> None:
    text = "`row[9]` and\n```\nx[7]\n```\n"

    assert cleaned(text, list(range(len(text)))) == text
    assert marked(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "The router`s address is 10.0.0.1 [1].",
        "It is `a` and `b, says this [1].",
        "A stray ` here.\n\n```\nx[7] `\n````\nAnd so on [1].",
    ],
)
def test_a_stray_tick_hides_no_citation(text: str) -> None:
    assert marked(text) == [1]
    assert cleaned(text, list(range(len(text)))) == text


def test_blanks_without_end_are_read_once() -> None:
    text = " " * 20_000 + "[1]"

    assert marked(text) == [1]
    assert cleaned(text, list(range(0, len(text), 4))) == text


def test_numbers_are_told_once_in_order() -> None:
    assert marked("b [2] a [1][2] c [3, 1]") == [2, 1, 3]


def test_a_text_can_do_without_its_marks() -> None:
    assert without_marks("Ten [1], `x[1]` [2].") == "Ten, `x[1]`."
