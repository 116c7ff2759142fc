"""Values of a record's fields: checked, and written in one way."""

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from chat.directory.clock import clock
from chat.directory.kinds import Field
from chat.directory.when import WhenUnclear, day_names, parse_when

Value = str | int | float | list[str]

LONGEST = 4_000
_MOST_ITEMS = 100
_KEY_LENGTH, NAME_LENGTH = 200, 300
# The last two: what shows a text in another order than it has.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufeff\u202a-\u202e\u2066-\u2069]"
)
_NUMBER = re.compile(r"[+-]?\d{1,15}(?:[.,]\d{1,10})?")
# To some a thousand and more, to others one and a bit.
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_EMAIL = re.compile(r"[^@\s,;<>]{1,64}@[^@\s,;<>]{1,190}")
_LOCAL_DATE = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")
_MIDNIGHT = re.compile(r"[ T]00:00(:00(\.0+)?)?Z?$")
# A day to reckon from; none of a record's values depends on it.
_SOME_DAY = datetime(2001, 1, 1)


class BadValue(ValueError):
    """A value that does not fit its field; the message is for a person."""


def checked(field: Field, raw: Any) -> Value:
    """The value as it is stored; "" for nothing. Raises BadValue."""
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return ""
    if field.type == "list":
        return _items(raw)
    if isinstance(raw, Mapping | Sequence) and not isinstance(raw, str):
        raise BadValue("should be one value")
    if isinstance(raw, bool):
        raw = "yes" if raw else "no"
    if field.type == "number":
        return _number(raw)
    text = _text(raw)
    match field.type:
        case "weekday":
            return _weekday(text)
        case "time":
            return _time(text)
        case "date":
            return _date(text)
        case "email":
            if not _EMAIL.fullmatch(text):
                raise BadValue(f"“{text[:50]}” is no email address")
    longest = {True: NAME_LENGTH}.get(field.is_name, LONGEST)
    if field.is_key or field.type == "reference":
        longest = _KEY_LENGTH
    if len(text) > longest:
        raise BadValue(f"is longer than {longest} characters")
    return text


def shown(value: Value | None) -> str:
    """As a person reads it."""
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(value)
    return str(value)


def _text(raw: Any) -> str:
    # Lines stay lines; other signs that nobody sees would only hide things.
    # Composed: the same name from two programs is one name.
    plain = unicodedata.normalize("NFC", str(raw))
    text = _CONTROL.sub("", plain.replace("\r\n", "\n").replace("\r", "\n"))
    return "\n".join(" ".join(line.split()) for line in text.split("\n")).strip()


def _items(raw: Any) -> list[str] | str:
    if isinstance(raw, Mapping):
        raise BadValue("should be a list")
    parts = raw if isinstance(raw, Sequence) and not isinstance(raw, str) else None
    if parts is None:
        parts = re.split(r"[;\n]", str(raw))
    if any(isinstance(part, Mapping | list) for part in parts):
        raise BadValue("should be a list of texts")
    items = [text for part in parts if part is not None and (text := _text(part))]
    if len(items) > _MOST_ITEMS:
        raise BadValue(f"has more than {_MOST_ITEMS} items")
    if sum(map(len, items)) > LONGEST:
        raise BadValue(f"is longer than {LONGEST} characters")
    # One item with a separator in it would be two when it is read again.
    return [item.replace(";", ",").replace("\n", " ") for item in items] or ""


def _number(raw: Any) -> int | float:
    if isinstance(raw, int | float):
        # An int may be too large to be any float.
        if abs(raw) >= 1e15 or not math.isfinite(raw):
            raise BadValue("is not a number that can be kept")
        return int(raw) if raw == int(raw) else raw
    text = _text(raw).replace("\u00a0", "")
    if not _NUMBER.fullmatch(text):
        raise BadValue(f"“{text[:50]}” is no number")
    if _THOUSANDS.fullmatch(text):
        raise BadValue(f"“{text}” may be two numbers; write it without a comma")
    number = float(text.replace(",", "."))
    return int(number) if number == int(number) else number


def _weekday(text: str) -> str:
    when = _when(text)
    if when is None or when.span is not None:
        raise BadValue(f"“{text[:50]}” is no weekday")
    return day_names(when.days)


def _time(text: str) -> str:
    # Spreadsheets add seconds.
    when = _when(re.sub(r"^(\d{1,2}:\d\d):00$", r"\1", text))
    if when is None or when.days or when.span is None:
        raise BadValue(f"“{text[:50]}” is no time of day")
    if when.span.start != when.span.end:
        raise BadValue(f"“{text[:50]}” is more than one time")
    return clock(when.span.start)


def _when(text: str) -> Any:
    if re.search(r"today|tomorrow|heute|今天|明天", text, re.IGNORECASE):
        return None
    try:
        return parse_when(text, _SOME_DAY)
    except WhenUnclear:
        return None


def _date(text: str) -> str:
    try:
        if match := _LOCAL_DATE.fullmatch(text):
            day, month, year = map(int, match.groups())
            return date(year, month, day).isoformat()
        return date.fromisoformat(_MIDNIGHT.sub("", text)).isoformat()
    except ValueError:
        raise BadValue(f"“{text[:50]}” is no date; write it as 2026-10-12") from None
