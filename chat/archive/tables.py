"""Every table as JSON lines, for any of our databases; secrets stay encrypted."""

import base64
from collections.abc import Iterator
from graphlib import TopologicalSorter
from typing import Any

from django.apps import apps
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.core.management.color import no_style
from django.core.serializers.base import DeserializationError
from django.core.serializers.python import Deserializer, Serializer
from django.db import connection, models
from django.db.models import BinaryField, ExpressionWrapper, F

from chat.archive.container import Reader, Writer
from chat.archive.errors import ArchiveDamaged
from copilot_site.lib.fields import EncryptedTextField, Unreadable

_FOLDER = "tables/"
# Whoever has a session key is logged in: people log in again after a restore.
_LEFT_OUT: frozenset[type[models.Model]] = frozenset({Session})
_BAD_ROW = (
    *(DeserializationError, FieldDoesNotExist, ValidationError),
    *(AttributeError, KeyError, TypeError, ValueError),
)
_MADE_BY_MIGRATE = {
    "contenttypes.contenttype",
    "auth.permission",
    "directory.recordkind",
}


def tables() -> list[type[models.Model]]:
    """Models in the order of their foreign keys, with the tables between them."""
    every = [
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy and model not in _LEFT_OUT
    ]
    graph: TopologicalSorter[type[models.Model]] = TopologicalSorter()
    for model in every:
        needed = {
            field.related_model
            for field in model._meta.local_concrete_fields
            if isinstance(field, models.ForeignKey)
        }
        graph.add(model, *(other for other in every if other in needed - {model}))
    return list(graph.static_order())


def part_of(model: type[models.Model]) -> str:
    return f"{_FOLDER}{model._meta.label_lower}.jsonl"


def dump(archive: Writer) -> int:
    """Rows written. Call it in `one_moment`."""
    return sum(archive.add_lines(part_of(model), _rows(model)) for model in tables())


def _rows(model: type[models.Model]) -> Iterator[dict[str, Any]]:
    serializer = _Ciphertexts()
    secrets = _encrypted(model)
    raw = {
        f"stored_{name}": ExpressionWrapper(F(name), output_field=BinaryField())
        for name in secrets
    }
    rows = model._base_manager.defer(*secrets).annotate(**raw).order_by("pk")
    for row in rows.iterator(chunk_size=500):
        # One row at a time: the serializer would keep them all.
        yield serializer.serialize([row])[0]


class _Ciphertexts(Serializer):
    """Django's serializer, with secrets as they are stored and tables between apart."""

    # Django's own name for the row under work; its stubs do not know it.
    _current: dict[str, Any]

    def handle_field(self, obj: Any, field: Any) -> None:
        if isinstance(field, EncryptedTextField):
            stored = bytes(getattr(obj, f"stored_{field.name}") or b"")
            self._current[field.name] = base64.b64encode(stored).decode()
        else:
            super().handle_field(obj, field)

    def handle_m2m_field(self, obj: Any, field: Any) -> None:
        """The table between is dumped as a table."""


def is_empty() -> bool:
    """Nothing but what migrations make, or not even tables."""
    existing = set(connection.introspection.table_names())
    return not any(
        model._base_manager.exists()
        for model in tables()
        if model._meta.db_table in existing
        and model._meta.label_lower not in _MADE_BY_MIGRATE
    )


def check(archive: Reader) -> None:
    """Raises ArchiveDamaged unless it holds our tables, all and no others."""
    found = {name for name in archive.parts if name.startswith(_FOLDER)}
    if found != {part_of(model) for model in tables()}:
        raise ArchiveDamaged("The backup holds other tables than this version has.")


def load(archive: Reader) -> int:
    """Replace every row; call it in a transaction. Raises ArchiveDamaged."""
    models_in_order = tables()
    everything = [*models_in_order, *_LEFT_OUT]
    names = [model._meta.db_table for model in everything]
    with connection.cursor() as cursor:
        for statement in connection.ops.sql_flush(no_style(), names):
            cursor.execute(statement)
    number = 0
    for model in models_in_order:
        for row in archive.lines(part_of(model)):
            _insert(model, row)
            number += 1
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), everything):
            cursor.execute(statement)
    ContentType.objects.clear_cache()
    return number


def _insert(model: type[models.Model], row: dict[str, Any]) -> None:
    damaged = ArchiveDamaged(f"A row of {part_of(model)} is damaged.")
    if row.get("model") != model._meta.label_lower:
        raise damaged
    try:
        fields = row["fields"]
        for name in _encrypted(model):
            stored = base64.b64decode(fields[name], validate=True)
            # Saved as it is: this installation's keys may be others.
            fields[name] = Unreadable(stored) if stored else ""
        for item in Deserializer([row]):
            # Raw and new: no automatic times, no look for an older row.
            item.object.save_base(raw=True, force_insert=True)
    except _BAD_ROW as exc:
        raise damaged from exc


def _encrypted(model: type[models.Model]) -> list[str]:
    return [
        field.name
        for field in model._meta.local_concrete_fields
        if isinstance(field, EncryptedTextField)
    ]
