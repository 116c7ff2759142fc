"""What the admin's pages share: one look, and rows that nobody edits by hand."""

from typing import TYPE_CHECKING, Any

from django.db.models import Model
from django.http import HttpRequest

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin, TabularInline
else:
    from unfold import admin as unfold

    class ModelAdmin(unfold.ModelAdmin):
        """Unfold's, with the type parameter that only type checkers read."""

        list_filter_submit = True

        def __class_getitem__(cls, model: object) -> type:
            return cls

    class TabularInline(unfold.TabularInline):
        per_page = 20
        # Pages of rows need an order.
        ordering = ("pk",)

        def __class_getitem__(cls, models: object) -> type:
            return cls


__all__ = ["ModelAdmin", "ReadOnlyAdmin", "ReadOnlyInline", "TabularInline"]


class ReadOnly:
    """Written by the product alone. Content needs a permission of its own."""

    # What people, models and devices said: shown with chat.view_message only.
    content_fields: tuple[str, ...] = ()

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = super().get_fields(request, obj)  # type: ignore[misc] # a mixin
        if may_read_content(request):
            return fields
        return [field for field in fields if field not in self.content_fields]


class ReadOnlyAdmin(ReadOnly, ModelAdmin[Model]):
    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Only together with what they belong to: a session, a project, a user."""
        names = f"{self.opts.app_label}_{self.opts.model_name}_"
        match = request.resolver_match
        is_own_page = match is not None and (match.url_name or "").startswith(names)
        return not is_own_page and super().has_delete_permission(request, obj)

    def lookup_allowed(
        self, lookup: str, value: str, request: HttpRequest | None = None
    ) -> bool:
        # A filter written into the address would tell what the page hides.
        if lookup.split("__")[0] in self.content_fields and not (
            request and may_read_content(request)
        ):
            return False
        return super().lookup_allowed(lookup, value, request)  # type: ignore[arg-type] # None: Django's own default


class ReadOnlyInline(ReadOnly, TabularInline[Model, Model]):
    extra = 0
    can_delete = False
    show_change_link = True


def may_read_content(request: HttpRequest) -> bool:
    """Messages, tool arguments and tool results are not for every operator."""
    return request.user.has_perm("chat.view_message")
