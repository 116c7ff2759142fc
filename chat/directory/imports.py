"""An import from its upload to its confirmation."""

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from chat.directory.importing import Preview, apply, preview
from chat.directory.models import RecordImport
from chat.directory.reading import Row, read_rows
from copilot_site.lib.errors import Conflict

_DRAFT_HOURS = 24


class AlreadyImported(Conflict):
    code = "already_imported"


def take(one: RecordImport, data: bytes, file_name: str) -> None:
    """Read the file; its rows are kept until they are confirmed.

    Raises FileUnreadable, FileTooLarge.
    """
    one.rows = [[row.number, _storable(row.values)] for row in read_rows(data)]
    one.file_name = _plain(file_name)[:255]


def forget_old_drafts() -> None:
    """Files that nobody has confirmed within a day."""
    stale = timezone.now() - timedelta(hours=_DRAFT_HOURS)
    RecordImport.objects.filter(confirmed_at=None, created_at__lt=stale).delete()


def look_at(one: RecordImport) -> Preview:
    rows = [Row(number, values) for number, values in one.rows]
    return preview(rows, one.kind, one.project)


def confirm(one: RecordImport) -> None:
    """All of its rows or none, once. Raises ImportHasErrors, AlreadyImported."""
    with transaction.atomic():
        rows = RecordImport.objects.filter(pk=one.pk, confirmed_at=None)
        # First of all: of two that confirm, the second waits here and finds nothing.
        if rows.update(confirmed_at=timezone.now()) != 1:
            raise AlreadyImported("This file was imported already.")
        seen = look_at(one)
        counts = {
            "created_count": seen.count("new"),
            "changed_count": seen.count("changed"),
            "unchanged_count": seen.count("same"),
        }
        apply(seen, source=one.file_name)
        RecordImport.objects.filter(pk=one.pk).update(rows=[], **counts)
    one.refresh_from_db()


def _storable(value: Any) -> Any:
    """Without the signs that no database takes; the values are checked later."""
    if isinstance(value, str):
        return _plain(value)
    if isinstance(value, dict):
        return {_plain(str(key)): _storable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_storable(item) for item in value]
    # Beyond what JSON columns hold: not a number that can be kept, told as text.
    is_odd = isinstance(value, float) and (value != value or abs(value) > 1e300)
    return str(value) if is_odd else value


def _plain(text: str) -> str:
    return text.replace("\x00", "").encode("utf-8", "replace").decode()
