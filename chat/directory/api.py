"""The directory over REST: kinds, records that fit, one record."""

import uuid
from typing import Any, cast

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from chat.directory.lookup import find, kind_named, kinds_with_counts, records_for
from chat.directory.models import RecordQuerySet
from chat.directory.related import Related
from chat.directory.shapes import (
    KindShape,
    RecordDetailShape,
    RecordPageShape,
    RecordQuery,
    detail_json,
    kind_json,
    record_json,
)
from copilot_site.authentication import Identity
from copilot_site.lib.errors import NotFound


class DirectoryView(APIView):
    @property
    def readable(self) -> RecordQuerySet:
        identity = cast(Identity, self.request.auth)
        return records_for(identity).select_related("kind", "project")


class KindList(DirectoryView):
    @extend_schema(responses=KindShape(many=True))
    def get(self, request: Request) -> Response:
        """The kinds of record, their fields, and how many of each you may read."""
        counted = kinds_with_counts(self.readable)
        return Response([kind_json(kind, count) for kind, count in counted])


class RecordList(DirectoryView):
    @extend_schema(parameters=[RecordQuery], responses=RecordPageShape)
    def get(self, request: Request, kind: str) -> Response:
        """Records of one kind that fit, the best first; all when nothing is asked."""
        values: dict[str, Any] = request.query_params.dict()
        values["field"] = request.query_params.getlist("field")
        query = RecordQuery(data=values)
        query.is_valid(raise_exception=True)
        wanted = query.validated_data
        found = find(
            self.readable,
            kind_named(kind),
            text=wanted["q"],
            fields=_fields(wanted["field"]),
            weekday=wanted["weekday"],
            time=wanted["time"],
        )
        start = wanted["offset"]
        page = found.records[start : start + wanted["limit"]]
        return Response(
            {
                "count": len(found.records),
                "records": [record_json(record) for record in page],
                "nearest": list(found.nearest),
            }
        )


class RecordDetail(DirectoryView):
    @extend_schema(responses=RecordDetailShape)
    def get(self, request: Request, record_id: str) -> Response:
        """One record, and what it is related to."""
        try:
            wanted = uuid.UUID(record_id)
        except ValueError:
            raise NotFound("There is no such record.") from None
        record = self.readable.filter(pk=wanted).first()
        if record is None:
            raise NotFound("There is no such record.")
        return Response(detail_json(record, Related(self.readable)))


def _fields(pairs: list[str]) -> dict[str, str]:
    fields = {}
    for pair in pairs:
        name, colon, value = pair.partition(":")
        if not colon or not name.strip():
            raise serializers.ValidationError({"field": "Write it as name:value."})
        fields[name.strip()] = value.strip()
    return fields
