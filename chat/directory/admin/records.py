"""Kinds and records of the directory."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from unfold.contrib.filters.admin import RelatedDropdownFilter

from chat.directory.exporting import as_csv
from chat.directory.models import Record, RecordKind
from copilot_site.admin_base import ModelAdmin


@admin.register(RecordKind)
class RecordKindAdmin(ModelAdmin[RecordKind]):
    list_display = ("label", "slug", "is_shipped", "records")
    search_fields = ("slug", "label")
    ordering = ("slug",)
    fields = ("slug", "label", "singular", "words", "fields")

    def get_queryset(self, request: HttpRequest) -> QuerySet[RecordKind]:
        return super().get_queryset(request).annotate(_records=Count("records"))

    def get_readonly_fields(
        self, request: HttpRequest, obj: RecordKind | None = None
    ) -> tuple[str, ...]:
        # Tools, references and addresses hang on the name.
        return ("slug",) if obj else ()

    def has_delete_permission(
        self, request: HttpRequest, obj: RecordKind | None = None
    ) -> bool:
        is_shipped = obj is not None and obj.is_shipped
        return not is_shipped and super().has_delete_permission(request, obj)

    @admin.display(ordering="_records")
    def records(self, kind: Any) -> int:
        count: int = kind._records
        return count


@admin.register(Record)
class RecordAdmin(ModelAdmin[Record]):
    list_display = ("key", "name", "kind", "project", "source", "updated_at")
    list_filter = (
        ("kind", RelatedDropdownFilter),
        ("project", RelatedDropdownFilter),
    )
    list_select_related = ("kind", "project")
    list_per_page = 50
    search_fields = ("key", "name")
    ordering = ("kind", "key")
    autocomplete_fields = ("kind", "project")
    fields = ("kind", "project", "key", "name", "data", "source", "updated_at")
    readonly_fields = ("source", "updated_at")
    actions = ("export_csv",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Record]:
        return super().get_queryset(request).select_related("kind")

    @admin.action(description="Export as CSV", permissions=["view"])
    def export_csv(
        self, request: HttpRequest, queryset: QuerySet[Record]
    ) -> HttpResponse | None:
        kinds = list(RecordKind.objects.filter(records__in=queryset).distinct()[:2])
        if len(kinds) != 1:
            messages.error(request, "Choose records of one kind.")
            return None
        text = as_csv(kinds[0], queryset.order_by("key").iterator(chunk_size=500))
        response = HttpResponse(text, content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="{kinds[0].slug}.csv"'
        return response
