"""Passages can be read for themselves, and together they are the document."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.knowledge.split import LEAST, MOST, Piece, split

SENTENCE = "The router in rack {} forwards packets to the next hop it knows. "

texts = st.one_of(
    st.text(max_size=3_000),
    st.lists(
        st.sampled_from(
            [
                "word ",
                "A sentence ends here. ",
                "\n\n",
                "\n",
                "# Heading\n",
                "网络实验室在三楼。",
                "x" * 700,
                "10.0.0.1/24 ",
                "\t",
            ]
        ),
        max_size=400,
    ).map("".join),
)


@given(
    text=texts,
    places=st.lists(st.integers(0, 3_000), max_size=8),
    pages=st.lists(st.integers(0, 3_000), max_size=8),
    is_lines=st.booleans(),
)
def test_nothing_is_lost_and_offsets_are_right(
    text: str, places: list[int], pages: list[int], is_lines: bool
) -> None:
    headings = [(place, 1 + place % 3, f"T{place}") for place in places]

    pieces = split(
        text, headings=headings, pages=sorted({0, *pages}), is_lines=is_lines
    )

    covered = [False] * len(text)
    for piece in pieces:
        said = text[piece.start : piece.end]
        assert said == said.strip() != ""
        assert len(said) <= MOST
        covered[piece.start : piece.end] = [True] * len(said)
    missing = "".join(
        sign for sign, is_in in zip(text, covered, strict=True) if not is_in
    )
    assert missing.strip() == ""
    assert all(one.start < other.start for one, other in pairwise(pieces))
    assert all(one.end < other.end for one, other in pairwise(pieces))


def test_passages_have_a_length_to_be_read_and_end_with_a_sentence() -> None:
    text = "\n\n".join(
        "".join(SENTENCE.format(n * 10 + m) for m in range(4)) for n in range(20)
    )

    pieces = split(text)

    assert len(pieces) > 4
    for piece in pieces[:-1]:
        assert LEAST <= piece.end - piece.start <= MOST
        assert text[piece.start : piece.end].endswith(".")


def test_a_passage_begins_with_the_sentence_before() -> None:
    text = "".join(SENTENCE.format(number) for number in range(60))

    for one, other in pairwise(split(text)):
        assert other.start < one.end
        assert text[other.start :].startswith("The router")


def test_a_section_begins_a_passage_of_its_own() -> None:
    body = "".join(SENTENCE.format(number) for number in range(10))
    text = f"Intro\n{body}\n\nCabling\n{body}"
    place = text.index("Cabling")

    pieces = split(text, headings=[(0, 1, "Intro"), (place, 1, "Cabling")])

    assert [piece.headings for piece in pieces] == [("Intro",), ("Cabling",)]
    assert pieces[1].start == place


def test_headings_stand_under_each_other() -> None:
    body = "".join(SENTENCE.format(number) for number in range(8))
    text = f"A\n\nB\n{body}\n\nC\n{body}\n\nD\n{body}"
    headings = [(0, 1, "A")] + [
        (text.index(f"{name}\n"), level, name)
        for name, level in (("B", 2), ("C", 2), ("D", 1))
    ]

    found = [piece.headings for piece in split(text, headings=headings)]

    assert found == [("A",), ("A", "C"), ("D",)] or found[0] == ("A", "B")
    assert ("A", "C") in found
    assert found[-1] == ("D",)


def test_short_sections_share_a_passage_and_what_stands_over_both() -> None:
    text = "Labs\n\nC 204\nOpen.\n\nC 205\nClosed."
    headings = [(0, 1, "Labs"), (6, 2, "C 204"), (19, 2, "C 205")]

    assert split(text, headings=headings) == [Piece(0, len(text), ("Labs",))]


def test_pages_are_counted_from_one() -> None:
    page = "".join(SENTENCE.format(number) for number in range(9))

    pieces = split(page + page, pages=[0, len(page)])

    assert pieces[0].page == 1
    assert pieces[-1].last_page == 2


def test_rows_are_not_cut_and_not_repeated() -> None:
    rows = [f"Name: Room {number} | Building: C | Seats: 24" for number in range(90)]
    text = "\n".join(rows)

    pieces = split(text, is_lines=True)

    again = [
        row for piece in pieces for row in text[piece.start : piece.end].split("\n")
    ]
    assert again == rows


@pytest.mark.parametrize("text", ["", "   \n\n\t "])
def test_nothing_makes_no_passage(text: str) -> None:
    assert split(text) == []


def test_chinese_passages_are_half_as_long() -> None:
    text = "网络实验室在三楼，周一到周五开放。" * 200

    assert all(piece.end - piece.start <= MOST // 2 + 1 for piece in split(text))


def test_a_short_passage_is_not_said_whole_once_more() -> None:
    one, other = split("0" * 150 + " " + "1" * 1100)[:2]

    assert other.start > one.start
