"""Profiles in the admin: edited as JSON, compared, rolled back, read as filled."""

from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from chat.profiles.definition import ProfileInvalid, as_text, parse
from chat.profiles.editing import difference, edit, filled, roll_back
from chat.profiles.loading import newer_file
from chat.profiles.models import Profile, ProfileVersion
from copilot_site.admin_base import ModelAdmin, ReadOnlyInline


class ProfileForm(forms.ModelForm):  # type: ignore[type-arg] # no subscript at run time
    definition = forms.CharField(
        widget=UnfoldAdminTextareaWidget(
            attrs={"rows": 40, "spellcheck": "false", "style": "font-family: monospace"}
        ),
        help_text="JSON as in docs/profiles.md; saving makes a new version.",
    )
    note = forms.CharField(
        required=False,
        max_length=200,
        widget=UnfoldAdminTextInputWidget(),
        help_text="What you changed, for those who read the versions.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.fields["definition"].initial = as_text(
                self.instance.current.definition
            )

    def clean_definition(self) -> dict[str, Any]:
        try:
            definition = parse(self.cleaned_data["definition"])
        except ProfileInvalid as error:
            raise ValidationError(error.faults) from None
        slug = definition["slug"]
        if self.instance.pk and slug != self.instance.slug:
            raise ValidationError(
                f"slug: the profile is “{self.instance.slug}”; it cannot be renamed."
            )
        if not self.instance.pk and Profile.objects.filter(slug=slug).exists():
            raise ValidationError(f"slug: there is a profile “{slug}” already.")
        return definition


class VersionInline(ReadOnlyInline):
    model = ProfileVersion
    fields = ("source", "author", "note", "created_at", "changes")
    readonly_fields = fields
    ordering = ("-number",)
    show_change_link = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("author", "profile")

    @admin.display(description="changes")
    def changes(self, version: ProfileVersion) -> SafeString | str:
        if version.number == version.profile.current_number:
            return "in use"
        address = reverse("admin:profile_compare", args=[version.pk])
        return format_html('<a class="underline" href="{}">Compare</a>', address)


@admin.register(Profile)
class ProfileAdmin(ModelAdmin[Profile]):
    form = ProfileForm
    list_display = ("slug", "is_enabled", "current_number", "updated_at")
    list_filter = ("is_enabled",)
    search_fields = ("slug",)
    filter_horizontal = ("groups",)
    inlines = (VersionInline,)
    readonly_fields = ("state", "prompt_as_filled")

    def get_fieldsets(self, request: HttpRequest, obj: Profile | None = None) -> Any:
        who = ("Who may use it", {"fields": ("is_enabled", "groups")})
        text = (None, {"fields": ("definition", "note")})
        if obj is None:
            return (text, who)
        seen = ("The prompt as filled", {"fields": ("prompt_as_filled",)})
        return ((None, {"fields": ("state",)}), text, who, seen)

    @admin.display(description="state")
    def state(self, profile: Profile) -> SafeString | str:
        newer = newer_file(profile)
        if newer is None:
            return f"Version {profile.current_number} is in use."
        address = reverse("admin:profile_compare", args=[newer.pk])
        return format_html(
            "Version {} is in use, edited here. The file has changed since: "
            '<a class="underline" href="{}">compare with version {}</a>.',
            profile.current_number,
            address,
            newer.number,
        )

    @admin.display(description="with examples for what only a run knows")
    def prompt_as_filled(self, profile: Profile) -> SafeString:
        text = filled(profile.current.definition)
        return format_html('<pre style="white-space: pre-wrap">{}</pre>', text)

    def has_delete_permission(
        self, request: HttpRequest, obj: Profile | None = None
    ) -> bool:
        """One that comes from a file would be back at the next start: disable it."""
        if obj is not None and obj.is_from_file():
            return False
        return super().has_delete_permission(request, obj)

    def save_model(
        self, request: HttpRequest, obj: Profile, form: Any, change: bool
    ) -> None:
        definition = form.cleaned_data["definition"]
        obj.slug = definition["slug"]
        super().save_model(request, obj, form, change)
        note, author = form.cleaned_data["note"], cast(User, request.user)
        version = edit(obj, definition, author=author, note=note)
        obj.refresh_from_db(fields=["current_number"])
        if version is not None:
            said = f"Version {version.number} is in use for new rounds."
            self.message_user(request, said, messages.SUCCESS)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("versions/<int:pk>/", view(self.compare), name="profile_compare"),
            path(
                "versions/<int:pk>/use/",
                view(require_POST(self.use)),
                name="profile_roll_back",
            ),
            *super().get_urls(),
        ]

    def compare(self, request: HttpRequest, pk: int) -> HttpResponse:
        """One version beside the one in use."""
        version = self._version(pk)
        if not self.has_view_permission(request, version.profile):
            raise PermissionDenied
        current = version.profile.current
        page = {
            **self.admin_site.each_context(request),
            "title": f"{version.profile}: version {version.number}",
            "opts": self.opts,
            "version": version,
            "current": current,
            "lines": difference(current, version),
            "prompt": filled(version.definition),
            "may_use": self.has_change_permission(request, version.profile),
        }
        return TemplateResponse(request, "admin/profile_version.html", page)

    def use(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Roll back, or forward to the file's newer version."""
        version = self._version(pk)
        if not self.has_change_permission(request, version.profile):
            raise PermissionDenied
        made = roll_back(version, author=cast(User, request.user))
        if made is not None:
            self.log_change(request, version.profile, made.note)
            said = f"Version {made.number} says what version {version.number} said."
            self.message_user(request, said, messages.SUCCESS)
        return redirect("admin:profiles_profile_change", version.profile.pk)

    def _version(self, pk: int) -> ProfileVersion:
        rows = ProfileVersion.objects.select_related("profile")
        return get_object_or_404(rows, pk=pk)
