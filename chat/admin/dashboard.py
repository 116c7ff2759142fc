"""The admin's first page: tokens by day, and who and what used them."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

from django.db.models import F, Sum
from django.db.models.functions import TruncDate
from django.http import HttpRequest
from django.utils import timezone

from chat.models import LLMCall

DAYS = 14
TOP = 5
CHART_WIDTH = 700
CHART_HEIGHT = 160


@dataclass(frozen=True, slots=True)
class Column:
    """One day of the chart, in the units of its picture."""

    day: date
    input: int
    output: int
    x: float
    width: float
    input_height: float
    output_height: float

    @property
    def total(self) -> int:
        return self.input + self.output

    @property
    def input_y(self) -> float:
        return CHART_HEIGHT - self.input_height

    @property
    def output_y(self) -> float:
        return self.input_y - self.output_height

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    tokens: int
    percent: float


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Called by the admin's index; only who may read the ledger sees its sums."""
    if not request.user.has_perm("chat.view_llmcall"):
        return context
    today = timezone.localdate()
    since = today - timedelta(days=DAYS - 1)
    # A moment, not a date: only so the index on it is used.
    midnight = timezone.make_aware(datetime.combine(since, time.min))
    calls = LLMCall.objects.filter(started_at__gte=midnight)
    columns = _columns(calls, since)
    context["tokens"] = {
        "columns": columns,
        "total": sum(column.total for column in columns),
        "input": sum(column.input for column in columns),
        "output": sum(column.output for column in columns),
        "days": DAYS,
        "width": CHART_WIDTH,
        "height": CHART_HEIGHT,
        "users": _top(calls, "username"),
        "models": _top(calls, "model"),
    }
    return context


def _columns(calls: Any, since: date) -> list[Column]:
    sums = {
        day: (read, written)
        for day, read, written in calls.annotate(day=TruncDate("started_at"))
        .values("day")
        .annotate(
            read=Sum("input_tokens", default=0), written=Sum("output_tokens", default=0)
        )
        .values_list("day", "read", "written")
    }
    highest = max((read + written for read, written in sums.values()), default=0) or 1
    step = CHART_WIDTH / DAYS
    columns = []
    for index in range(DAYS):
        day = since + timedelta(days=index)
        read, written = sums.get(day, (0, 0))
        columns.append(
            Column(
                day=day,
                input=read,
                output=written,
                x=round(index * step + 6, 1),
                width=round(step - 12, 1),
                input_height=round(read / highest * CHART_HEIGHT, 1),
                output_height=round(written / highest * CHART_HEIGHT, 1),
            )
        )
    return columns


def _top(calls: Any, field: str) -> list[Row]:
    found = list(
        calls.values(name=F(field))
        .annotate(
            tokens=Sum("input_tokens", default=0) + Sum("output_tokens", default=0)
        )
        .order_by("-tokens", "name")
        .values_list("name", "tokens")[:TOP]
    )
    highest = max((tokens for _, tokens in found), default=0) or 1
    return [
        Row(name or "(deleted)", tokens, round(tokens / highest * 100, 1))
        for name, tokens in found
        if tokens
    ]
