"""What a model thinks aloud is told apart from what it answers."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmconfig.thinking import ThinkSplitter

CASES = [
    ("<think>plan</think>\n\nR1 has no route.", "plan", "R1 has no route."),
    ("  \n<think>\nplan</think>R1", "\nplan", "R1"),
    ("R1 has no route.", "", "R1 has no route."),
    ("a < b", "", "a < b"),
    ("<thinking is hard", "", "<thinking is hard"),
    ("<thi", "", "<thi"),
    ("<think>cut in the middle </thi", "cut in the middle </thi", ""),
    ("Answer first, <think>later</think>", "", "Answer first, <think>later</think>"),
    ("<think></think>hello", "", "hello"),
    ("", "", ""),
]


def split(pieces: Sequence[str]) -> tuple[str, str]:
    splitter = ThinkSplitter()
    parts = [splitter.feed(piece) for piece in pieces] + [splitter.finish()]
    return "".join(part[0] for part in parts), "".join(part[1] for part in parts)


@pytest.mark.parametrize(("text", "thought", "answer"), CASES)
def test_only_a_thought_at_the_beginning_is_one(
    text: str, thought: str, answer: str
) -> None:
    assert split([text]) == (thought, answer)


@given(st.sampled_from(CASES), st.data())
def test_the_cutting_makes_no_difference(
    case: tuple[str, str, str], data: st.DataObject
) -> None:
    text, thought, answer = case
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    borders = [0, *cuts, len(text)]

    pieces = [text[a:b] for a, b in zip(borders, borders[1:], strict=False)]

    found = split(pieces)
    # A line break right after the closing tag may come in a piece of its own.
    assert (found[0], found[1].lstrip("\n")) == (thought, answer.lstrip("\n"))
