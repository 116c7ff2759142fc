"""The data sources of whoever asks, with what they hold."""

from typing import Any, cast

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from chat.datasources.service import overview
from copilot_site.authentication import Identity


class ColumnShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    type = serializers.CharField(required=False)
    key = serializers.BooleanField(required=False)
    refers_to = serializers.CharField(required=False, help_text="`table.column`")
    notes = serializers.CharField(required=False)


class TableShape(serializers.Serializer[Any]):
    table = serializers.CharField()
    is_view = serializers.BooleanField(required=False)
    notes = serializers.CharField(required=False)
    columns = ColumnShape(many=True)


class DataSourceShape(serializers.Serializer[Any]):
    """`error` says why its tables are not known now; empty where they are."""

    # The framework takes fields out of the class, so that none hides an attribute.
    source = serializers.CharField()  # type: ignore[assignment] # see above
    title = serializers.CharField()
    description = serializers.CharField(allow_blank=True)
    engine = serializers.CharField()
    notes = serializers.CharField(allow_blank=True)
    tables = TableShape(many=True)
    error = serializers.CharField(allow_blank=True)


class DataSourceList(APIView):
    @extend_schema(responses=DataSourceShape(many=True))
    def get(self, request: Request) -> Response:
        """The databases that the copilot may read for you, and their tables."""
        identity = cast(Identity, request.auth)
        return Response(overview(identity.user))
