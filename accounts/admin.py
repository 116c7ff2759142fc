"""API tokens, and who has looked at what: made elsewhere, only read here."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import RangeDateFilter, RelatedDropdownFilter

from accounts.models import ApiToken, Look
from copilot_site.admin_base import ReadOnlyAdmin


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    list_display = (
        "name",
        "user",
        "beginning",
        "created_at",
        "last_used_at",
        "expires_at",
        "revoked_at",
    )
    list_filter = (("user", RelatedDropdownFilter),)
    list_select_related = ("user",)
    list_per_page = 50
    search_fields = ("name", "user__username")
    ordering = ("-created_at",)
    fields = list_display
    actions = ("revoke",)

    @admin.action(description="Revoke", permissions=["delete_token"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        for token in queryset:
            token.revoke()

    def has_delete_token_permission(self, request: HttpRequest) -> bool:
        """Who may delete tokens may revoke them; the pages are for reading."""
        return request.user.has_perm("accounts.delete_apitoken")


@admin.register(Look)
class LookAdmin(ReadOnlyAdmin):
    list_display = ("looked_at", "username", "page", "object_id", "owner", "query")
    list_filter = (
        "page",
        ("user", RelatedDropdownFilter),
        ("looked_at", RangeDateFilter),
    )
    list_per_page = 50
    search_fields = ("username", "owner", "object_id")
    ordering = ("-looked_at",)
    show_full_result_count = False
    fields = list_display

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody's: not even with the person who looked."""
        return False
