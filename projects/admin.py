"""Servers, projects and people's roles in them; users with their roles."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import RelatedDropdownFilter
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminTextInputWidget

from copilot_site.admin_base import ModelAdmin, ReadOnlyAdmin, TabularInline
from copilot_site.admin_forms import SecretForm, check_address
from projects.models import Gns3Identity, Membership, Project, PurgedProject, Server


class ServerForm(SecretForm):
    secret = "password"
    secret_label = "password"

    # Names without a dot are usual in labs; the model's own check refuses them.
    url = forms.CharField(
        label="URL", max_length=500, widget=UnfoldAdminTextInputWidget
    )

    def clean_url(self) -> str:
        return check_address(self.cleaned_data["url"]).rstrip("/")

    def _get_validation_exclusions(self) -> set[str]:
        return {*super()._get_validation_exclusions(), "url"}  # type: ignore[misc] # not in the stubs


@admin.register(Server)
class ServerAdmin(ModelAdmin[Server]):
    form = ServerForm
    list_display = (
        "name",
        "url",
        "access",
        "default_role",
        "is_simulated",
        "is_enabled",
    )
    list_filter = ("is_enabled", "is_simulated", "access")
    search_fields = ("name", "url")
    ordering = ("name",)
    actions = ("enable", "disable")
    fieldsets = (
        (None, {"fields": ("name", "url", "is_enabled")}),
        ("Account", {"fields": ("username", "new_secret", "forget_secret")}),
        ("Who may", {"fields": ("access", "default_role")}),
        ("Kind", {"fields": ("is_simulated", "created_at")}),
    )
    readonly_fields = ("created_at",)

    @admin.action(description="Enable", permissions=["change"])
    def enable(self, request: HttpRequest, queryset: QuerySet[Server]) -> None:
        queryset.update(is_enabled=True)

    @admin.action(description="Disable", permissions=["change"])
    def disable(self, request: HttpRequest, queryset: QuerySet[Server]) -> None:
        queryset.update(is_enabled=False)


class ProjectMemberInline(TabularInline[Membership, Project]):
    model = Membership
    extra = 0
    autocomplete_fields = ("user",)


@admin.register(Project)
class ProjectAdmin(ModelAdmin[Project]):
    list_display = (
        "name",
        "server",
        "project_id",
        "status",
        "members",
        "seen_at",
        "deleted_at",
    )
    list_filter = ("status", ("server", RelatedDropdownFilter))
    list_select_related = ("server",)
    list_per_page = 50
    search_fields = ("name", "project_id")
    ordering = ("name",)
    autocomplete_fields = ("server",)
    fields = (
        "server",
        "project_id",
        "name",
        "status",
        "created_at",
        "seen_at",
        "deleted_at",
    )
    readonly_fields = ("created_at", "seen_at", "deleted_at")
    inlines = (ProjectMemberInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Project]:
        return super().get_queryset(request).annotate(_members=Count("memberships"))

    @admin.display(ordering="_members")
    def members(self, project: Any) -> int:
        count: int = project._members
        return count


@admin.register(Membership)
class MembershipAdmin(ModelAdmin[Membership]):
    list_display = ("user", "project", "role")
    list_filter = ("role", ("project", RelatedDropdownFilter))
    list_select_related = ("user", "project")
    list_per_page = 50
    search_fields = ("user__username", "project__name")
    autocomplete_fields = ("user", "project")
    ordering = ("user__username", "project__name")


class UserMembershipInline(TabularInline[Membership, User]):
    model = Membership
    extra = 0
    autocomplete_fields = ("project",)


admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class UserAdmin(DjangoUserAdmin, ModelAdmin[User]):  # type: ignore[type-arg] # no subscript at run time
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    inlines = (UserMembershipInline,)

    def get_inlines(self, request: HttpRequest, obj: User | None) -> Any:
        # A user that is just being made has no roles yet.
        return self.inlines if obj else ()


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin, ModelAdmin[Group]):
    pass


@admin.register(Gns3Identity)
class Gns3IdentityAdmin(ReadOnlyAdmin):
    list_display = ("gns3_username", "server", "user", "created_at")
    list_select_related = ("server", "user")
    list_per_page = 50
    search_fields = ("gns3_username", "user__username")
    fields = ("server", "gns3_user_id", "gns3_username", "user", "created_at")


@admin.register(PurgedProject)
class PurgedProjectAdmin(ReadOnlyAdmin):
    list_display = ("name", "project_id", "server_name", "deleted_by", "purged_at")
    list_per_page = 50
    search_fields = ("name", "project_id")
    fields = (
        "name",
        "project_id",
        "server_name",
        "deleted_by",
        "deleted_at",
        "purged_at",
        "counts",
    )
