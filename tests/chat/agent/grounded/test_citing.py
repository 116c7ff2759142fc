from hypothesis import given
from hypothesis import strategies as st

from chat.agent.citing import MarkFilter, marked, without_marks

PIECES = [
    "text ",
    "[1]",
    " [2]",
    "[1, 9]",
    "【3】",
    "`x[1]`",
    "```\n[2]\n```",
    "[",
    "]",
]
TEXTS = st.lists(st.sampled_from([*PIECES, "[^1]", "\n", "[note]", "9]", "`"]))


def cleaned(text: str, cuts: list[int], known: tuple[int, ...] = (1, 3)) -> str:
    marks, out, at = MarkFilter(known), "", 0
    for cut in [*sorted(cut % (len(text) + 1) for cut in cuts), len(text)]:
        out += marks.feed(text[at:cut])
        at = cut
    return out + marks.finish()


@given(TEXTS, st.lists(st.integers(0, 200)))
def test_any_cutting_gives_the_same_text(parts: list[str], cuts: list[int]) -> None:
    text = "".join(parts)

    assert cleaned(text, cuts) == cleaned(text, [])
    assert set(marked(cleaned(text, cuts))) <= {1, 3}


def test_marks_that_point_to_nothing_go_with_the_gap_before_them() -> None:
    assert cleaned("It opens at ten [7]. So [1, 8]!", []) == "It opens at ten. So [1]!"


def test_marks_of_other_forms_become_ours() -> None:
    assert cleaned("开放【3】。 Yes [^1]", []) == "开放[3]。 Yes [1]"


def test_code_is_left_alone() -> None:
    text = "`row[9]` and\n```\nx[7]\n```\n"

    assert cleaned(text, list(range(len(text)))) == text
    assert marked(text) == []


def test_numbers_are_told_once_in_order() -> None:
    assert marked("b [2] a [1][2] c [3, 1]") == [2, 1, 3]


def test_a_text_can_do_without_its_marks() -> None:
    assert without_marks("Ten [1], `x[1]` [2].") == "Ten, `x[1]`."
