"""Times of day in a text, as people write them in English, German and Chinese."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_DAY = 24 * 60
_CHINESE = "零一二三四五六七八九十两"
_CJK = re.compile("[\u4e00-\u9fff]")
# What stands between the ends of a range.
TO = r"\s*(?:-|–|—|~|to|until|till|through|bis|到|至)\s*"
_PARTS = {
    "morning": (6, 12),
    "vormittag": (6, 12),
    "上午": (6, 12),
    "早上": (6, 12),
    "noon": (12, 12),
    "mittag": (12, 12),
    "中午": (12, 12),
    "afternoon": (12, 18),
    "nachmittag": (12, 18),
    "下午": (12, 18),
    "evening": (18, 22),
    "abend": (18, 22),
    "晚上": (18, 22),
}
_CHINESE = "零一二三四五六七八九十两"
_BEFORE_TIME = re.compile(
    r"(?:\b(?:at|um|from|von|between|zwischen|after|nach|since|ab|before|vor|until|till"
    r"|bis)|@)\s*$"
)
_FROM = re.compile(r"\b(?:after|nach|since|ab)\s*$")
_UNTIL = re.compile(r"\b(?:before|vor|until|till|bis)\s*$")
_BETWEEN = re.compile(r"\b(?:between|zwischen|from|von)\s*$")
_TIME = re.compile(
    r"(?P<half>上午|早上|凌晨|中午|下午|晚上)?"
    r"(?:(?<![\da-z.:,])(?:(?<![a-z]-)|(?<=[ap]m-))(?P<hour>\d{1,2})"
    r"(?:(?P<gap>[:.h])(?P<minute>\d{2})(?![\d]))?"
    r"(?:\s*(?P<suffix>a\.?m\b\.?|p\.?m\b\.?|uhr\b|o'clock|h\b)"
    r"|\s*(?P<point>[点點时時])(?:(?P<past>\d{1,2})分?|(?P<part>半|一刻))?)?"
    r"(?![\d:])"
    rf"|(?P<chinese>[{_CHINESE}]{{1,3}})[点點时時](?P<part2>半|一刻)?)"
)


@dataclass(frozen=True, slots=True)
class Span:
    """Minutes of a day; a moment begins and ends at once."""

    start: int
    end: int

    def overlaps(self, other: "Span") -> bool:
        """Ends are open, so that 10:00 is not within 8:00 to 10:00."""
        if self.start == self.end or other.start == other.end:
            moment, span = (self, other) if self.start == self.end else (other, self)
            if span.start == span.end:
                return moment.start == span.start
            return span.start <= moment.start < span.end
        return self.start < other.end and other.start < self.end


def clock(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


@dataclass(frozen=True, slots=True)
class _Found:
    start: int
    end: int
    minutes: int
    is_clear: bool
    has_half: bool


def find_span(text: str, *, is_strict: bool) -> tuple[Span | None, str]:
    found = list(_times(text, is_strict=is_strict))
    for one, two in zip(found, found[1:], strict=False):
        between, before = text[one.end : two.start], text[: one.start]
        joined = re.fullmatch(TO, between) or (
            re.fullmatch(r"\s*(?:and|und|和)\s*", between) and _BETWEEN.search(before)
        )
        if joined and (
            is_strict or one.is_clear or two.is_clear or _BETWEEN.search(before)
        ):
            return _between(one, two), _without(text, one.start, two.end)
    for one in found:
        before, after = text[: one.start], text[one.end :]
        if not (is_strict or one.is_clear or _BEFORE_TIME.search(before)):
            continue
        span = Span(one.minutes, one.minutes)
        cut = one.start, one.end
        if match := _FROM.search(before):
            span, cut = Span(one.minutes, _DAY), (match.start(), one.end)
        elif match := _UNTIL.search(before):
            span, cut = Span(0, one.minutes), (match.start(), one.end)
        elif match := re.match(r"\s*(?:之后|以后)", after):
            span, cut = Span(one.minutes, _DAY), (one.start, one.end + match.end())
        elif match := re.match(r"\s*(?:之前|以前)", after):
            span, cut = Span(0, one.minutes), (one.start, one.end + match.end())
        return span, _without(text, *cut)
    for word, (start, end) in _PARTS.items():
        place = re.search(word if _CJK.match(word) else rf"\b{word}s?\b", text)
        if place:
            return Span(start * 60, end * 60), _without(text, *place.span())
    return None, text


def _without(text: str, start: int, end: int) -> str:
    before = _BEFORE_TIME.sub("", text[:start])
    return f"{before} {text[end:]}"


def _between(one: _Found, two: _Found) -> Span:
    start, end = one.minutes, two.minutes
    # In 1-3 pm both are after noon.
    if two.has_half and not one.has_half and start + _DAY // 2 < end < _DAY:
        start += _DAY // 2
    return Span(start, end if end > start else end + _DAY)


def _times(text: str, *, is_strict: bool) -> Iterator[_Found]:
    for match in _TIME.finditer(text):
        minutes = _minutes(match)
        if minutes is None:
            continue
        suffix = match["suffix"] or ""
        has_point = bool(match["point"] or match["chinese"])
        # 3.50 may be a price; 3:50 is a time.
        is_clear = bool(match["gap"] == ":" or suffix or has_point or match["half"])
        if match["gap"] == "." and not (is_strict or suffix):
            continue
        yield _Found(
            *match.span(),
            minutes,
            is_clear=is_clear,
            has_half=suffix[:1] in ("a", "p") or bool(match["half"]),
        )


def _minutes(match: re.Match[str]) -> int | None:
    written = match["chinese"]
    hour = _chinese_number(written) if written else int(match["hour"])
    minute = int(match["minute"] or match["past"] or 0)
    minute = {"半": 30, "一刻": 15}.get(match["part"] or match["part2"], minute)
    suffix, half = (match["suffix"] or "")[:1], match["half"] or ""
    if suffix in ("a", "p") and not 1 <= hour <= 12:
        return None
    is_late = suffix == "p" or half in ("下午", "晚上")
    if is_late and hour < 12:
        hour += 12
    elif (suffix == "a" or half == "凌晨") and hour == 12:
        hour = 0
    if hour > 24 or minute > 59 or (hour == 24 and minute):
        return None
    return hour * 60 + minute


def _chinese_number(text: str) -> int:
    tens, has_ten, ones = text.rpartition("十")
    if not has_ten:
        return _digit(text[-1])
    return (_digit(tens[-1]) if tens else 1) * 10 + (_digit(ones[0]) if ones else 0)


def _digit(sign: str) -> int:
    return 2 if sign == "两" else _CHINESE.index(sign)
