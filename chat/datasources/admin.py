"""Data sources: the address goes in and stays in; a test says what the role may do."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from chat.datasources.address import parse_address
from chat.datasources.errors import SourceRefused
from chat.datasources.models import DataSource
from chat.datasources.ownership import check_not_own
from chat.datasources.probing import faults_of
from copilot_site.admin_base import ModelAdmin
from copilot_site.admin_forms import SecretForm


class DataSourceForm(SecretForm):
    secret = "url"
    secret_label = "address"

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        url = str(cleaned.get("new_secret") or "")
        if url:
            try:
                address = parse_address(url)
                check_not_own(address)
            except SourceRefused as error:
                self.add_error("new_secret", str(error))
            else:
                self.instance.engine = address.engine
        elif not self.instance.url and not self.errors:
            self.add_error("new_secret", "Where is the database?")
        return cleaned


@admin.register(DataSource)
class DataSourceAdmin(ModelAdmin[DataSource]):
    form = DataSourceForm
    list_display = (
        "slug",
        "title",
        "engine",
        "row_cap",
        "timeout",
        "is_enabled",
        "updated_at",
    )
    list_filter = ("engine", "is_enabled", "groups")
    search_fields = ("slug", "title", "description")
    filter_horizontal = ("groups",)
    readonly_fields = ("engine", "place", "created_at", "updated_at")
    actions = ("test_connections",)
    fieldsets = (
        (None, {"fields": ("slug", "title", "description", "is_enabled")}),
        (
            "Where",
            {
                "fields": ("new_secret", "forget_secret", "place", "engine"),
                "description": "postgresql://user:password@host:5432/database, with a "
                "role that has SELECT rights only, or sqlite:////path/to/file.sqlite. "
                "After saving, choose “Test the connection” in the list.",
            },
        ),
        ("What may be read", {"fields": ("allowed_tables", "notes", "groups")}),
        ("Limits", {"fields": ("row_cap", "byte_cap", "timeout")}),
        ("History", {"fields": ("created_at", "updated_at")}),
    )

    @admin.display(description="in use")
    def place(self, source: DataSource) -> str:
        try:
            return parse_address(source.url).shown() if source.url else "–"
        except SourceRefused as error:
            return str(error)

    @admin.action(description="Test the connection", permissions=["change"])
    def test_connections(
        self, request: HttpRequest, queryset: QuerySet[DataSource]
    ) -> None:
        for source in queryset:
            faults = faults_of(source)
            for text in faults:
                messages.warning(request, f"{source.slug}: {text}")
            if not faults:
                messages.success(
                    request, f"{source.slug}: it answers, and its role can only read."
                )
