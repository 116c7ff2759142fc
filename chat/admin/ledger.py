"""The ledger of LLM calls: filtered, summed, exported."""

import csv
from typing import Any

from django.contrib import admin
from django.db.models import Count, QuerySet, Sum
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from unfold.contrib.filters.admin import RelatedDropdownFilter

from chat.models import LLMCall
from copilot_site.admin_base import ReadOnlyAdmin

COLUMNS = (
    "started_at",
    "finished_at",
    "username",
    "project_name",
    "project_id",
    "provider",
    "model",
    "operation",
    "status",
    "attempt",
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "input_price",
    "output_price",
    "cost",
)


@admin.register(LLMCall)
class LLMCallAdmin(ReadOnlyAdmin):
    list_display = (
        "started_at",
        "username",
        "project_name",
        "model",
        "operation",
        "status",
        "input_tokens",
        "output_tokens",
        "total_tokens",
        "cost",
    )
    list_filter = (
        ("user", RelatedDropdownFilter),
        "project_name",
        "model",
        "operation",
        "status",
    )
    list_per_page = 50
    list_before_template = "admin/ledger_sums.html"
    search_fields = ("username", "project_name", "model")
    date_hierarchy = "started_at"
    ordering = ("-started_at",)
    show_full_result_count = False
    actions = ("export_csv",)
    fields = (
        *COLUMNS,
        "finish_reason",
        "error_code",
        "first_token_at",
        "session",
        "run",
    )

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        response = super().changelist_view(request, extra_context)
        data = getattr(response, "context_data", None)
        if data and "cl" in data:
            data["sums"] = data["cl"].queryset.aggregate(
                calls=Count("pk"),
                input=Sum("input_tokens", default=0),
                output=Sum("output_tokens", default=0),
                cost=Sum("cost"),
                unknown=Count("pk") - Count("total_tokens"),
            )
        return response  # type: ignore[return-value] # Django types it wider

    @admin.action(description="Export as CSV", permissions=["view"])
    def export_csv(
        self, request: HttpRequest, queryset: QuerySet[LLMCall]
    ) -> HttpResponse:
        response = HttpResponse(
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": 'attachment; filename="llm-calls.csv"'},
        )
        writer = csv.writer(response)
        writer.writerow(COLUMNS)
        for row in queryset.values_list(*COLUMNS).iterator(chunk_size=2_000):
            writer.writerow(map(_cell, row))
        return response


def _cell(value: Any) -> Any:
    # A spreadsheet would run a name that begins like a formula.
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return value.isoformat() if hasattr(value, "isoformat") else value
