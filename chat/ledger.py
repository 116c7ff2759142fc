"""The books: ledger rows, messages, and the totals that runs and sessions show."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Q, Sum
from django.utils import timezone

from chat.models import ChatSession, LLMCall, Message, Run
from chat.models.run import FINISHED

# Longer than a title or a takeover may still be under way.
_LOST_AFTER = timedelta(minutes=10)

_RUN_FIELDS = ("message_count", "llm_calls_count", "input_tokens", "output_tokens")


@dataclass(frozen=True, slots=True)
class Totals:
    """Of a run, from its rows; tokens that nobody knows stay None."""

    message_count: int
    llm_calls_count: int
    input_tokens: int | None
    output_tokens: int | None


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that the books say twice, and differently."""

    what: str
    field: str
    stored: Any
    counted: Any

    def __str__(self) -> str:
        return f"{self.what}: {self.field} is {self.stored}, counted {self.counted}"


def totals_of(run: Run) -> Totals:
    """What the run has come to so far."""
    calls = run.llm_calls.aggregate(
        count=Count("pk"), read=Sum("input_tokens"), written=Sum("output_tokens")
    )
    blank = Q(role=Message.Role.ASSISTANT, content="", calls=None)
    told = run.messages.exclude(blank).exclude(finish_reason="error")
    return Totals(told.count(), calls["count"], calls["read"], calls["written"])


def differences(*, fix: bool = False) -> Iterator[Difference]:
    """All of them; with `fix`, the rows are made to agree with what was counted.

    Each session is looked at alone and locked, so that no run ends in between.
    """
    yield from _lost_calls(fix=fix)
    keys = ChatSession.objects.order_by("pk").values_list("pk", flat=True)
    for key in keys.iterator(chunk_size=500):
        with transaction.atomic():
            session = ChatSession.objects.select_for_update().filter(pk=key).first()
            found = list(_of_session(session, fix=fix)) if session else []
        yield from found


def settle_lost_calls(older: timedelta = _LOST_AFTER) -> int:
    """Calls of runs long over that nobody ended: their worker died."""
    moment = timezone.now() - older
    over = Q(run=None) | Q(run__status__in=FINISHED, run__finished_at__lt=moment)
    rows = LLMCall.objects.filter(
        over, status=LLMCall.Status.STARTED, started_at__lt=moment
    )
    return _mark_lost(rows.values_list("pk", flat=True))


def _lost_calls(*, fix: bool) -> Iterator[Difference]:
    """Started, and no living worker is at them."""
    moment = timezone.now() - timedelta(minutes=1)
    orphaned = Run.objects.orphaned(settings.LEASE_SECONDS).values("pk")
    gone = (
        Q(run=None)
        | Q(run__status__in=FINISHED, run__finished_at__lt=moment)
        | Q(run__in=orphaned)
    )
    rows = LLMCall.objects.filter(
        gone, status=LLMCall.Status.STARTED, started_at__lt=moment
    )
    keys = list(rows.order_by("pk").values_list("pk", flat=True))
    if fix:
        _mark_lost(keys)
    for key in keys:
        yield Difference(f"call {key}", "status", "started", "lost")


def _mark_lost(keys: Any) -> int:
    rows = LLMCall.objects.filter(pk__in=list(keys), status=LLMCall.Status.STARTED)
    return rows.update(status=LLMCall.Status.LOST, finished_at=timezone.now())


def _of_session(session: ChatSession, *, fix: bool) -> Iterator[Difference]:
    counted = dict.fromkeys(_RUN_FIELDS, 0)
    runs = session.runs.filter(status__in=FINISHED)
    is_imported = _is_imported(session)
    if is_imported:
        # Rounds that came with it were paid for elsewhere: no ledger of ours has them.
        runs = runs.exclude(attempt=0)
    for run in runs:
        totals = totals_of(run)
        wrong = []
        for field in _RUN_FIELDS:
            value = getattr(totals, field)
            counted[field] += value or 0
            # Unknown tokens add nothing: a run of them may say so or say zero.
            if (getattr(run, field) or 0) != (value or 0):
                yield Difference(f"run {run.pk}", field, getattr(run, field), value)
                setattr(run, field, value)
                wrong.append(field)
        if fix and wrong:
            run.save(update_fields=wrong)
    yield from _of_sums(session, counted, at_least=is_imported, fix=fix)


def _is_imported(session: ChatSession) -> bool:
    if "imported_from" in session.metadata:
        return True
    return session.messages.filter(run=None).exists()


def _of_sums(
    session: ChatSession, counted: dict[str, int], *, at_least: bool, fix: bool
) -> Iterator[Difference]:
    sums = {
        **counted,
        "total_tokens": counted["input_tokens"] + counted["output_tokens"],
    }
    wrong = []
    for field, value in sums.items():
        stored = getattr(session, field)
        if stored < value or (stored > value and not at_least):
            yield Difference(f"session {session.thread_id}", field, stored, value)
            setattr(session, field, value)
            wrong.append(field)
    if fix and wrong:
        session.save(update_fields=wrong)
