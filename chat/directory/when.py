"""Weekdays and times of day, as people write them in English, German and Chinese."""

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta

from chat.directory.clock import TO, Span, find_span
from copilot_site.lib.errors import UserFacingError

WEEKDAYS = (
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
)

# Whole words stand in any text; short forms only where a weekday is asked for.
_NAMES = (
    ("monday", "montag", "星期一", "周一", "礼拜一"),
    ("tuesday", "dienstag", "星期二", "周二", "礼拜二"),
    ("wednesday", "mittwoch", "星期三", "周三", "礼拜三"),
    ("thursday", "donnerstag", "星期四", "周四", "礼拜四"),
    ("friday", "freitag", "星期五", "周五", "礼拜五"),
    ("saturday", "samstag", "sonnabend", "星期六", "周六", "礼拜六"),
    ("sunday", "sonntag", "星期日", "星期天", "周日", "周天", "礼拜天", "礼拜日"),
)
_SHORT = (
    ("mon", "mo"),
    ("tues", "tue", "tu", "di", "die"),
    ("wed", "weds", "we", "mi", "mit"),
    ("thurs", "thur", "thu", "th", "do", "don"),
    ("fri", "fr", "fre"),
    ("sat", "sa", "sam"),
    ("sun", "su", "so", "son"),
)
_GROUPS = {
    "weekend": {5, 6},
    "wochenende": {5, 6},
    "周末": {5, 6},
    "weekdays": {0, 1, 2, 3, 4},
    "werktags": {0, 1, 2, 3, 4},
    "工作日": {0, 1, 2, 3, 4},
}
_NEAR = {"today": 0, "heute": 0, "今天": 0, "tomorrow": 1, "明天": 1}
_CJK = re.compile("[\u4e00-\u9fff]")
_FILLER = re.compile(
    r"\b(?:on|at|am|um|the|every|each|jeden|in|from|von|between|zwischen|and|und|uhr|h"
    r"|o'clock|ab|between)\b|[\s,;&/.]+|和|、|的|在|从|之间"
)


class WhenUnclear(UserFacingError):
    code = "when_unclear"


@dataclass(frozen=True, slots=True)
class When:
    """Days by number from Monday, a span of the day, and what else the text says."""

    days: frozenset[int] = frozenset()
    span: Span | None = None
    rest: str = ""


def find_when(text: str, now: datetime) -> When:
    """Whole names of days and clear times in a question; the rest is left."""
    text = _plain(text)
    days, text = _days(text, now, is_strict=False)
    span, text = find_span(text, is_strict=False)
    return When(days, span, text)


def parse_when(text: str, now: datetime) -> When:
    """Of a text that is nothing but days and times. Raises WhenUnclear."""
    plain = _plain(text)
    days, plain = _days(plain, now, is_strict=True)
    span, plain = find_span(plain, is_strict=True)
    if _FILLER.sub("", plain) or (not days and span is None):
        raise WhenUnclear(
            f"“{text[:50]}” is no weekday or time. "
            "Write such as Monday, Mon-Wed, 10:00, 10:00-12:00, Monday 10:00."
        )
    return When(days, span)


def day_names(days: frozenset[int]) -> str:
    return ", ".join(WEEKDAYS[day] for day in sorted(days))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _pattern(*, is_strict: bool) -> tuple[re.Pattern[str], dict[str, frozenset[int]]]:
    table = {
        name: frozenset({day}) for day, names in enumerate(_NAMES) for name in names
    }
    table |= {name: frozenset(days) for name, days in _GROUPS.items()}
    if is_strict:
        table |= {
            name: frozenset({day}) for day, names in enumerate(_SHORT) for name in names
        }
    names = sorted({*table, *_NEAR}, key=len, reverse=True)
    # Chinese words have no borders; Mondays and Montags are Monday.
    options = [name if _CJK.match(name) else rf"\b{name}s?\b" for name in names]
    return re.compile("|".join(options)), table


_LOOSE, _STRICT = _pattern(is_strict=False), _pattern(is_strict=True)
_RANGE = re.compile(TO)


def _days(text: str, now: datetime, *, is_strict: bool) -> tuple[frozenset[int], str]:
    pattern, table = _STRICT if is_strict else _LOOSE
    found: set[int] = set()
    rest: list[str] = []
    end, last = 0, None
    for match in pattern.finditer(text):
        between = text[end : match.start()]
        days = _days_of(match[0], table, now)
        first = min(days)
        if last is not None and _RANGE.fullmatch(between):
            # From Friday to Monday goes over the week's end.
            found |= {(last + step) % 7 for step in range((first - last) % 7 + 1)}
        else:
            rest.append(between)
        found |= days
        end, last = match.end(), first
    return frozenset(found), " ".join([*rest, text[end:]])


def _days_of(
    word: str, table: dict[str, frozenset[int]], now: datetime
) -> frozenset[int]:
    if word in _NEAR:
        return frozenset({(now + timedelta(days=_NEAR[word])).weekday()})
    return table.get(word) or table[word.removesuffix("s")]
