"""Weekdays and times of day in a question, in three languages."""

import re
from datetime import datetime, timedelta

WEEKDAYS = (
    *("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
)
_NAMES = (
    r"\bmon(?:day)?s?\b|\bmontags?\b|(?:星期|周|礼拜)一",
    r"\btue(?:s(?:day)?)?s?\b|\bdienstags?\b|(?:星期|周|礼拜)二",
    r"\bwed(?:nesday)?s?\b|\bmittwochs?\b|(?:星期|周|礼拜)三",
    r"\bthu(?:rs(?:day)?)?s?\b|\bdonnerstags?\b|(?:星期|周|礼拜)四",
    r"\bfri(?:day)?s?\b|\bfreitags?\b|(?:星期|周|礼拜)五",
    r"\bsat(?:urday)?s?\b|\bsamstags?\b|\bsonnabends?\b|(?:星期|周|礼拜)六",
    r"\bsun(?:day)?s?\b|\bsonntags?\b|(?:星期|周|礼拜)[日天]",
)
_DAYS = tuple(re.compile(name, re.IGNORECASE) for name in _NAMES)
_TODAY = re.compile(r"\b(?:today|tonight|heute)\b|今天|今日|今晚", re.IGNORECASE)
_TOMORROW = re.compile(r"\b(?:tomorrow|morgen)\b|明天|明日", re.IGNORECASE)
_ANY_DAY = re.compile(
    "|".join([*_NAMES, _TODAY.pattern, _TOMORROW.pattern]), re.IGNORECASE
)
_TIME = re.compile(
    r"\b(\d{1,2})[:.](\d{2})(?!\d|\.\d)\s{0,2}(am|pm|uhr)?"
    r"|\b(\d{1,2})\s{0,2}(am|pm|uhr|o'clock)\b"
    r"|(上午|下午|晚上)?\s{0,2}(\d{1,2})\s{0,2}[点时](?:(\d{1,2})分?)?",
    re.IGNORECASE,
)


def weekday_in(text: str, now: datetime) -> str:
    """The last one named; empty where there is none."""
    found = [
        (m.start(), day) for day, at in enumerate(_DAYS) for m in at.finditer(text)
    ]
    found += [(m.start(), now.weekday()) for m in _TODAY.finditer(text)]
    tomorrow = (now + timedelta(days=1)).weekday()
    found += [(m.start(), tomorrow) for m in _TOMORROW.finditer(text)]
    return WEEKDAYS[max(found)[1]] if found else ""


def time_in(text: str) -> str:
    """As HH:MM; empty where there is none."""
    found = _TIME.search(text)
    if found is None:
        return ""
    hour = int(found[1] or found[4] or found[7])
    minute = int(found[2] or found[8] or 0)
    half = (found[3] or found[5] or "").lower()
    is_late = half == "pm" or found[6] in ("下午", "晚上")
    if is_late and hour < 12:
        hour += 12
    return f"{hour:02}:{minute:02}" if hour < 24 and minute < 60 else ""


def without_times(text: str) -> str:
    return _TIME.sub(" ", without_days(text))


def without_days(text: str) -> str:
    return _ANY_DAY.sub(" ", text)
