"""Device output that a later change has overtaken: seen then, but maybe not so now."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.utils.dateparse import parse_datetime

from chat.models import ChatSession, ToolCall


def mark_stale(session: ChatSession, turns: Sequence[dict[str, Any]]) -> None:
    """Set `stale` on citations of devices that were changed after they were read."""
    cited = [one for turn in turns for one in _of_devices(turn)]
    if not cited:
        return
    changes = _last_changes(session)
    for citation in cited:
        seen = parse_datetime(citation["time"])
        changed = changes.get(citation["location"])
        if seen is not None and changed is not None and changed > seen:
            citation["stale"] = True


def _of_devices(turn: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """Copies, in place: what is stored never says that it is stale."""
    metadata = turn["metadata"]
    found = metadata.get("citations")
    if not found or not any(one["kind"] == "device" for one in found):
        return []
    metadata["citations"] = [dict(one) for one in found]
    return [one for one in metadata["citations"] if one["kind"] == "device"]


def _last_changes(session: ChatSession) -> dict[str, datetime]:
    """When each device was last changed, in any round of the session."""
    rows = ToolCall.objects.filter(run__session=session).exclude(effect="read")
    found: dict[str, datetime] = {}
    for evidence in rows.values_list("evidence", flat=True):
        for device, text in evidence.get("changed", {}).items():
            at = parse_datetime(text)
            if at is not None and (device not in found or at > found[device]):
                found[device] = at
    return found
