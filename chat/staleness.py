"""Device output that a later change has overtaken: seen then, but maybe not so now."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from django.utils.dateparse import parse_datetime

from chat.models import ChatSession, ToolCall


def mark_stale(session: ChatSession, turns: Sequence[dict[str, Any]]) -> None:
    """Set `stale` on citations of devices that were changed after they were read."""
    cited = [one for turn in turns for one in _of_devices(turn)]
    if not cited:
        return
    changes = list(_changes(session))
    for citation in cited:
        seen = parse_datetime(citation["time"])
        device = citation["location"].casefold()
        if seen is not None and any(
            at > seen and device in devices for at, devices in changes
        ):
            citation["stale"] = True


def _of_devices(turn: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """Copies, in place: what is stored never says that it is stale."""
    metadata = turn["metadata"]
    found = metadata.get("citations")
    if not found or not any(one["kind"] == "device" for one in found):
        return []
    metadata["citations"] = [dict(one) for one in found]
    return [one for one in metadata["citations"] if one["kind"] == "device"]


def _changes(session: ChatSession) -> Iterator[tuple[datetime, set[str]]]:
    """When which devices were changed, in all rounds of the session."""
    rows = ToolCall.objects.filter(
        run__session=session, effect__in=("change", "idempotent")
    ).exclude(finished_at=None)
    for at, evidence in rows.values_list("finished_at", "evidence"):
        if at is not None and (changed := evidence.get("changed")):
            yield at, {name.casefold() for name in changed}
