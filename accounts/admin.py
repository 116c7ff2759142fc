"""API tokens: to be seen and revoked, never made here or read in clear."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import RelatedDropdownFilter

from accounts.models import ApiToken
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
