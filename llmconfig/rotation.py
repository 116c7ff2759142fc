"""Every encrypted column of every app, brought to the newest encryption key.

What no key opens is left as it is. A value that changes meanwhile is left to the next
time: nothing is overwritten that was not read.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.apps import apps
from django.db import models, transaction
from django.db.models.functions import Cast

from copilot_site.lib.fields import EncryptedTextField, Unreadable, encrypt, opened

BATCH = 500


@dataclass
class Column:
    """One encrypted column, and what became of its values."""

    model: type[models.Model]
    name: str
    renewed: int = 0
    up_to_date: int = 0
    changed_meanwhile: int = 0
    unreadable: list[Any] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.model._meta.label}.{self.name}"

    def values(self) -> Iterator[list[tuple[Any, bytes]]]:
        """Batches of key and stored bytes, in the order of the keys."""
        rows = (
            self.model._base_manager.order_by("pk")
            .annotate(stored_bytes=Cast(self.name, models.BinaryField()))
            .values_list("pk", "stored_bytes")
        )
        last: Any = None
        while True:
            after = rows if last is None else rows.filter(pk__gt=last)
            batch = list(after[:BATCH])
            if not batch:
                return
            last = batch[-1][0]
            yield [(pk, bytes(token)) for pk, token in batch if token]


def encrypted_columns() -> list[Column]:
    return [
        Column(model, column.name)
        for model in apps.get_models()
        for column in model._meta.local_fields
        if isinstance(column, EncryptedTextField)
    ]


def rotate(*, is_dry_run: bool = False) -> list[Column]:
    """Batch by batch; may be interrupted and run again."""
    columns = encrypted_columns()
    for column in columns:
        for batch in column.values():
            with transaction.atomic():
                for pk, token in batch:
                    _renew(column, pk, token, is_dry_run)
    return columns


def _renew(column: Column, pk: Any, token: bytes, is_dry_run: bool) -> None:
    place, text = opened(token)
    if text is None:
        column.unreadable.append(pk)
    elif place == 0:
        column.up_to_date += 1
    elif is_dry_run or _replace(column, pk, token, encrypt(text)):
        column.renewed += 1
    else:
        column.changed_meanwhile += 1


def _replace(column: Column, pk: Any, old: bytes, new: bytes) -> bool:
    """False if it is no longer what was read."""
    # Unreadable stands for stored bytes: they go in as they are.
    rows = column.model._base_manager.filter(pk=pk, **{column.name: Unreadable(old)})
    return rows.update(**{column.name: Unreadable(new)}) == 1
