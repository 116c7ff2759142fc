"""Collections and their documents: uploaded, read again, removed; no text is shown."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import RelatedDropdownFilter
from unfold.widgets import UnfoldAdminFileFieldWidget

from chat.documents.jobs import Job
from chat.documents.wake import wake
from chat.knowledge import ingest
from chat.knowledge.models import Collection, Document
from copilot_site.admin_base import ModelAdmin
from copilot_site.lib.errors import UserFacingError


class CollectionForm(forms.ModelForm):  # type: ignore[type-arg] # no subscript at run time
    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        scope = cleaned.get("scope")
        for field, wanted in (("project", "project"), ("user", "user")):
            if (cleaned.get(field) is not None) != (scope == wanted):
                self.add_error(
                    field, f"Set it for the scope “{wanted}”, and only then."
                )
        return cleaned


@admin.register(Collection)
class CollectionAdmin(ModelAdmin[Collection]):
    form = CollectionForm
    list_display = ("name", "scope", "project", "user", "documents", "created_at")
    list_filter = ("scope", ("project", RelatedDropdownFilter))
    list_select_related = ("project", "user")
    list_per_page = 50
    search_fields = ("name", "description", "user__username", "project__name")
    ordering = ("scope", "name")
    autocomplete_fields = ("project", "user")
    fields = ("name", "description", "scope", "project", "user")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Collection]:
        return super().get_queryset(request).annotate(_documents=Count("documents"))

    @admin.display(ordering="_documents")
    def documents(self, collection: Any) -> int:
        count: int = collection._documents
        return count

    def delete_model(self, request: HttpRequest, obj: Collection) -> None:
        ingest.delete_collection(obj)

    def delete_queryset(
        self, request: HttpRequest, queryset: QuerySet[Collection]
    ) -> None:
        for collection in queryset:
            ingest.delete_collection(collection)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Names and sums: a list of every passage would be long, and content."""
        keys = [collection.pk for collection in objs]
        count = Document.objects.filter(collection__in=keys).count()
        return [str(collection) for collection in objs], {"documents": count}, set(), []


class DocumentForm(forms.ModelForm):  # type: ignore[type-arg] # no subscript at run time
    upload = forms.FileField(
        required=False,
        widget=UnfoldAdminFileFieldWidget,
        help_text="A new document, or a new version of this one.",
    )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        file = cleaned.get("upload")
        is_new = self.instance._state.adding
        if file is None:
            if is_new:
                raise ValidationError("Choose a file.")
            return cleaned
        if self.errors:
            return cleaned
        try:
            data = file.read()
            if is_new:
                found, _ = ingest.upload(cleaned["collection"], file.name, data)
            else:
                found = ingest.replace(self.instance, file.name, data)
        except UserFacingError as error:
            raise ValidationError(str(error)) from None
        self.instance = found
        return cleaned


@admin.register(Document)
class DocumentAdmin(ModelAdmin[Document]):
    form = DocumentForm
    list_display = ("name", "collection", "state", "passage_count", "pages", "error")
    list_filter = ("state", ("collection", RelatedDropdownFilter))
    list_select_related = ("collection", "file")
    list_per_page = 50
    search_fields = ("name", "collection__name")
    ordering = ("collection__name", "name")
    autocomplete_fields = ("collection",)
    actions = ("read_again",)
    readonly_fields = (
        *("name", "state", "error", "done", "total", "version", "pages"),
        *("passage_count", "note", "file", "uploaded_by", "created_at", "updated_at"),
    )

    def get_fields(self, request: HttpRequest, obj: Document | None = None) -> Any:
        if obj is None:
            return ("collection", "upload")
        return ("collection", "upload", *self.readonly_fields)

    def get_readonly_fields(
        self, request: HttpRequest, obj: Document | None = None
    ) -> Any:
        # A document moves nowhere: who may read it hangs on its collection.
        return (*self.readonly_fields, *(("collection",) if obj else ()))

    def save_model(
        self, request: HttpRequest, obj: Document, form: Any, change: bool
    ) -> None:
        """The form has stored it: only then is known whether it can be."""

    def delete_model(self, request: HttpRequest, obj: Document) -> None:
        ingest.delete_document(obj)

    def delete_queryset(
        self, request: HttpRequest, queryset: QuerySet[Document]
    ) -> None:
        for document in queryset.select_related("collection"):
            ingest.delete_document(document)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Names: a list of every passage would be long, and content."""
        return [str(document) for document in objs], {}, set(), []

    @admin.action(description="Read again", permissions=["change"])
    def read_again(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        rows = queryset.filter(state__in=[Job.State.READY, Job.State.FAILED])
        count = rows.update(state=Job.State.UPLOADED, tries=0, error="", error_code="")
        wake(ingest.INGEST)
        messages.info(request, f"{count} documents wait for the workers.")
