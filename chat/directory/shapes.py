"""What the directory's API takes and answers."""

from typing import Any

from rest_framework import serializers

from chat.directory.kinds import FIELD_TYPES
from chat.directory.models import Record, RecordKind
from chat.directory.related import Related


class FieldShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment] # Field has a label too
    type = serializers.ChoiceField(choices=FIELD_TYPES)
    kind = serializers.CharField(help_text="What a reference points to.")
    is_key = serializers.BooleanField()
    is_name = serializers.BooleanField()


class KindShape(serializers.Serializer[Any]):
    slug = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment] # as above
    singular = serializers.CharField()
    count = serializers.IntegerField(min_value=0)
    # The name is the API's; Serializer has a property of it.
    fields = FieldShape(many=True)  # type: ignore[assignment]


class RecordShape(serializers.Serializer[Any]):
    """One entry of the directory; `data` has the values of its kind's fields."""

    id = serializers.UUIDField()
    kind = serializers.CharField()
    key = serializers.CharField()
    name = serializers.CharField()
    title = serializers.CharField()
    project_id = serializers.UUIDField(
        allow_null=True, help_text="null: for everybody on this site."
    )
    data = serializers.DictField()  # type: ignore[assignment] # Serializer has one
    updated_at = serializers.DateTimeField()


class RecordDetailShape(RecordShape):
    relations = serializers.ListField(child=serializers.CharField())


class RecordPageShape(serializers.Serializer[Any]):
    count = serializers.IntegerField(min_value=0, help_text="Of all that fit.")
    records = RecordShape(many=True)
    nearest = serializers.ListField(
        child=serializers.CharField(), help_text="Like it by name, if none fits."
    )


class RecordQuery(serializers.Serializer[Any]):
    """Query parameters of a list of records."""

    q = serializers.CharField(
        required=False,
        max_length=500,
        default="",
        allow_blank=True,
        help_text="Words or a question: a name, a key, also nearly right.",
    )
    field = serializers.ListField(
        child=serializers.CharField(max_length=300),
        required=False,
        default=list,
        max_length=20,
        help_text="`name:value`, such as `credits:>=5`; several must all fit.",
    )
    weekday = serializers.CharField(
        required=False, max_length=100, default="", allow_blank=True
    )
    time = serializers.CharField(
        required=False,
        max_length=100,
        default="",
        allow_blank=True,
        help_text="`10:00`, `10:00-12:00`, `after 14:00`.",
    )
    limit = serializers.IntegerField(min_value=1, max_value=200, default=50)
    offset = serializers.IntegerField(min_value=0, max_value=100_000, default=0)


def kind_json(kind: RecordKind, count: int) -> dict[str, Any]:
    return {
        "slug": kind.slug,
        "label": kind.label,
        "singular": kind.singular,
        "count": count,
        "fields": [
            {
                "name": field.name,
                "label": field.label,
                "type": field.type,
                "kind": field.kind,
                "is_key": field.is_key,
                "is_name": field.is_name,
            }
            for field in kind.columns
        ],
    }


def record_json(record: Record) -> dict[str, Any]:
    project = record.project
    return {
        "id": str(record.pk),
        "kind": record.kind.slug,
        "key": record.key,
        "name": record.name,
        "title": record.title,
        "project_id": project.project_id if project else None,
        "data": record.data,
        "updated_at": record.updated_at.isoformat(),
    }


def detail_json(record: Record, related: Related) -> dict[str, Any]:
    return {**record_json(record), "relations": related.facts([record])}
