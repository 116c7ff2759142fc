"""A source's row → what an engine works with, and what it holds, kept for a minute."""

import threading
import time

from django.conf import settings

from chat.datasources.address import parse_address
from chat.datasources.cells import Limits
from chat.datasources.engines import ENGINES
from chat.datasources.engines.base import Engine, Target
from chat.datasources.errors import SourceRefused
from chat.datasources.models import DataSource
from chat.datasources.tables import Allowed, Catalogue
from copilot_site.lib.fields import Unreadable

_KEPT_SECONDS = 60.0
# What a tool's result holds beside the rows.
_FRAME_LENGTH = 4_000
_SHORTEST_LENGTH = 1_000

_catalogues: dict[str, tuple[float, str, Catalogue]] = {}
_lock = threading.Lock()


def target_of(
    source: DataSource, *, rows: int | None = None, seconds: float | None = None
) -> Target:
    """Raises SourceRefused where its address cannot be used.

    A profile may ask for less than the source allows, never for more.
    """
    if isinstance(source.url, Unreadable):
        raise SourceRefused(
            "Its address cannot be read with today's encryption keys; "
            "an operator has to enter it again."
        )
    room = max(_SHORTEST_LENGTH, settings.TOOL_OUTPUT_LENGTH - _FRAME_LENGTH)
    return Target(
        key=f"{source.pk}:{source.updated_at.timestamp()}",
        address=parse_address(source.url),
        allowed=Allowed.of(source.allowed_tables),
        limits=Limits(
            rows=min(source.row_cap, rows or source.row_cap),
            length=min(source.byte_cap, room),
            seconds=min(float(source.timeout), seconds or source.timeout),
        ),
    )


def engine_of(target: Target) -> Engine:
    return ENGINES[target.address.engine]


def catalogue_of(target: Target) -> Catalogue:
    """In a thread. Raises SourceRefused, SourceUnavailable."""
    now = time.monotonic()
    source = target.key.partition(":")[0]
    with _lock:
        kept = _catalogues.get(source)
    if kept is not None and kept[1] == target.key and kept[0] > now - _KEPT_SECONDS:
        return kept[2]
    catalogue = engine_of(target).catalogue(target)
    with _lock:
        _catalogues[source] = (now, target.key, catalogue)
    return catalogue
