"""Weekdays and times, as people write them."""

from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.directory.clock import Span, clock
from chat.directory.when import (
    WEEKDAYS,
    When,
    WhenUnclear,
    day_names,
    find_when,
    parse_when,
)

# A Monday.
NOW = datetime(2026, 11, 30, 9, 0)


def shown(when: When) -> tuple[str, str]:
    """Days by their first letters, and the span."""
    days = " ".join(name[:2] for name in day_names(when.days).split(", ") if name)
    if when.span is None:
        return days, ""
    return days, f"{clock(when.span.start)}-{clock(when.span.end)}"


@pytest.mark.parametrize(
    ("text", "days", "span"),
    [
        ("Monday", "Mo", ""),
        ("montags", "Mo", ""),
        ("星期一", "Mo", ""),
        ("周日", "Su", ""),
        ("Mon, Wed", "Mo We", ""),
        ("Di-Do", "Tu We Th", ""),
        ("Fri to Mon", "Mo Fr Sa Su", ""),
        ("weekend", "Sa Su", ""),
        ("today", "Mo", ""),
        ("tomorrow", "Tu", ""),
        ("Monday 10:00", "Mo", "10:00-10:00"),
        ("Montag 10 Uhr", "Mo", "10:00-10:00"),
        ("周一 上午10点", "Mo", "10:00-10:00"),
        ("下午两点半", "", "14:30-14:30"),
        ("十点", "", "10:00-10:00"),
        ("10", "", "10:00-10:00"),
        ("10am", "", "10:00-10:00"),
        ("12 am", "", "00:00-00:00"),
        ("12 pm", "", "12:00-12:00"),
        ("1-3 pm", "", "13:00-15:00"),
        ("11am-1pm", "", "11:00-13:00"),
        ("8-10", "", "08:00-10:00"),
        ("10.30", "", "10:30-10:30"),
        ("10:00–11:30", "", "10:00-11:30"),
        ("between 10 and 12", "", "10:00-12:00"),
        ("von 10 bis 12 Uhr", "", "10:00-12:00"),
        ("after 14:00", "", "14:00-24:00"),
        ("bis 12 Uhr", "", "00:00-12:00"),
        ("morning", "", "06:00-12:00"),
        ("22:00-02:00", "", "22:00-26:00"),
        ("Monday-Friday 9-17", "Mo Tu We Th Fr", "09:00-17:00"),
    ],
)
def test_what_people_write_is_understood(text: str, days: str, span: str) -> None:
    assert shown(parse_when(text, NOW)) == (days, span)


@pytest.mark.parametrize("text", ["", "soon", "Monday soon", "25:00", "13 pm", "10:75"])
def test_what_is_no_weekday_or_time_is_refused(text: str) -> None:
    with pytest.raises(WhenUnclear):
        parse_when(text, NOW)


@pytest.mark.parametrize(
    ("text", "days", "span"),
    [
        ("Who teaches on Monday at 10?", "Mo", "10:00-10:00"),
        ("Is B-204 free on Monday 10:00-12:00?", "Mo", "10:00-12:00"),
        ("rooms for 20 people on Tuesday afternoon", "Tu", "12:00-18:00"),
        ("Was ist am Dienstag um 14 Uhr?", "Tu", "14:00-14:00"),
        ("星期一上午十点有什么课？", "Mo", "10:00-10:00"),
        ("What is on after 14:00 on Wednesday", "We", "14:00-24:00"),
    ],
)
def test_it_is_found_in_a_question(text: str, days: str, span: str) -> None:
    assert shown(find_when(text, NOW)) == (days, span)


@pytest.mark.parametrize(
    "text", ["the sun sat on NET-20", "3.50 credits", "course 201", "PC1 and R2", "do"]
)
def test_words_that_only_look_like_it_are_left(text: str) -> None:
    found = find_when(text, NOW)

    assert (found.days, found.span) == (frozenset(), None)
    assert found.rest.split() == text.lower().split()


@settings(deadline=None)
@given(
    days=st.sets(st.integers(0, 6), min_size=1),
    start=st.integers(0, 24 * 60 - 1),
    length=st.integers(1, 12 * 60),
)
def test_what_is_written_out_is_read_back(
    days: set[int], start: int, length: int
) -> None:
    end = (start + length) % (24 * 60)

    when = parse_when(f"{day_names(frozenset(days))} {clock(start)}-{clock(end)}", NOW)

    assert when.days == days
    assert when.span is not None
    assert when.span.start == start
    assert when.span.end % (24 * 60) == end


@settings(deadline=None)
@given(st.text(max_size=60))
def test_no_text_breaks_it(text: str) -> None:
    found = find_when(text, NOW)
    assert all(0 <= day < len(WEEKDAYS) for day in found.days)
    try:
        parse_when(text, NOW)
    except WhenUnclear:
        return


def test_an_end_is_not_within() -> None:
    lecture = Span(8 * 60, 10 * 60)

    assert lecture.overlaps(Span(9 * 60, 9 * 60))
    assert lecture.overlaps(Span(8 * 60, 8 * 60))
    assert not lecture.overlaps(Span(10 * 60, 10 * 60))
    assert not lecture.overlaps(Span(10 * 60, 11 * 60))
