"""Files of records: upload, look at what they would change, confirm."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from unfold.contrib.filters.admin import RelatedDropdownFilter
from unfold.widgets import UnfoldAdminFileFieldWidget

from chat.directory.imports import confirm, forget_old_drafts, look_at, take
from chat.directory.models import RecordImport
from chat.directory.reading import LARGEST
from copilot_site.admin_base import ModelAdmin
from copilot_site.lib.errors import UserFacingError

if TYPE_CHECKING:
    _Form = forms.ModelForm[RecordImport]
else:
    _Form = forms.ModelForm

_PREVIEW_ROWS = 100


class UploadForm(_Form):
    """Reads the file: what cannot be read is told beside the field."""

    file = forms.FileField(
        widget=UnfoldAdminFileFieldWidget,
        help_text="CSV or JSON with one column a field, headed by its name or label. "
        "Nothing is written before you have seen what it would change.",
    )

    class Meta:
        model = RecordImport
        fields = ("kind", "project")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        file = cleaned.get("file")
        if file:
            try:
                take(self.instance, file.read(LARGEST + 1), file.name)
            except UserFacingError as error:
                raise ValidationError({"file": str(error)}) from None
        return cleaned


@admin.register(RecordImport)
class RecordImportAdmin(ModelAdmin[RecordImport]):
    form = UploadForm
    list_display = (
        "file_name",
        "kind",
        "project",
        "user",
        "created_at",
        "confirmed_at",
        "created_count",
        "changed_count",
    )
    list_filter = (("kind", RelatedDropdownFilter),)
    list_select_related = ("kind", "project", "user")
    list_per_page = 50
    search_fields = ("file_name",)
    ordering = ("-created_at",)
    autocomplete_fields = ("kind", "project")
    fields = ("kind", "project", "file")

    def has_add_permission(self, request: HttpRequest) -> bool:
        # Whoever imports writes records.
        return super().has_add_permission(request) and request.user.has_perms(
            ["directory.add_record", "directory.change_record"]
        )

    def has_change_permission(
        self, request: HttpRequest, obj: RecordImport | None = None
    ) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        seen = self.admin_site.admin_view(self.preview_view)
        name = "directory_recordimport_preview"
        return [path("<uuid:pk>/preview/", seen, name=name), *super().get_urls()]

    def add_view(
        self,
        request: HttpRequest,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        title = {"title": "Import records", "show_save_and_add_another": False}
        shown = {**title, "show_save_and_continue": False, **(extra_context or {})}
        return super().add_view(request, form_url, shown)

    def save_model(
        self, request: HttpRequest, obj: RecordImport, form: Any, change: bool
    ) -> None:
        forget_old_drafts()
        obj.user = request.user if request.user.is_authenticated else None
        super().save_model(request, obj, form, change)

    def response_add(
        self, request: HttpRequest, obj: RecordImport, post_url_continue: Any = None
    ) -> HttpResponse:
        return HttpResponseRedirect(_preview_url(obj))

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        return HttpResponseRedirect(_preview_url(self._object(object_id)))

    def preview_view(self, request: HttpRequest, pk: str) -> HttpResponse:
        """What the file would change, row by row; POST does it."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        one = self._object(pk)
        if request.method == "POST":
            return self._confirm(request, one)
        seen = look_at(one)
        ordered = sorted(seen.rows, key=lambda row: (not row.errors, row.number))
        page = Paginator(ordered, _PREVIEW_ROWS).get_page(request.GET.get("page"))
        context = {
            **self.admin_site.each_context(request),
            "title": f"{one.kind.label}: {one.file_name}",
            "opts": self.opts,
            "one": one,
            "seen": seen,
            "page": page,
            "counts": {
                state: seen.count(state) for state in ("new", "changed", "same")
            },
        }
        return TemplateResponse(request, "admin/record_import.html", context)

    def _confirm(self, request: HttpRequest, one: RecordImport) -> HttpResponse:
        try:
            confirm(one)
        except UserFacingError as error:
            messages.error(request, str(error))
            return HttpResponseRedirect(_preview_url(one))
        messages.success(
            request,
            f"{one.created_count} records made, {one.changed_count} changed, "
            f"{one.unchanged_count} were the same.",
        )
        return HttpResponseRedirect(reverse("admin:directory_recordimport_changelist"))

    def _object(self, pk: str) -> RecordImport:
        rows = RecordImport.objects.select_related("kind", "project")
        return get_object_or_404(rows, pk=pk)


def _preview_url(one: RecordImport) -> str:
    return reverse("admin:directory_recordimport_preview", kwargs={"pk": one.pk})
