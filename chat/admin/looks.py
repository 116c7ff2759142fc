"""Each look at what people, models and devices said is itself recorded."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse

from accounts.models import Look
from chat.models import ChatSession
from copilot_site.admin_base import may_read_content
from copilot_site.lib.secret_values import mask


class LooksAreLogged:
    """Before the page is made: a look that cannot be recorded does not happen."""

    # Whether the list itself, not only a row's own page, shows content.
    lists_content = False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if self.lists_content and self._shows_content(request):
            self._log(request, query=urlencode(request.GET, doseq=True))
        return super().changelist_view(request, extra_context)  # type: ignore[misc,no-any-return] # a mixin

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        if object_id is not None and self._shows_content(request):
            row = self.get_object(request, object_id)  # type: ignore[attr-defined] # a mixin
            if row is not None:
                self._log(request, object_id=object_id, owner=_owner(row))
        return super().changeform_view(request, object_id, form_url, extra_context)  # type: ignore[misc] # a mixin

    def _shows_content(self, request: HttpRequest) -> bool:
        can_open = self.has_view_permission(request)  # type: ignore[attr-defined] # a mixin
        return can_open and may_read_content(request)

    def _log(self, request: HttpRequest, **facts: str) -> None:
        Look.objects.create(
            user_id=request.user.pk,
            username=request.user.get_username(),
            page=self.opts.model_name,  # type: ignore[attr-defined] # a mixin
            object_id=facts.get("object_id", "")[:64],
            owner=facts.get("owner", ""),
            query=mask(facts.get("query", ""))[:500],
        )


def _owner(row: Any) -> str:
    """Whose conversation the row belongs to."""
    for name in ("message", "run"):
        row = getattr(row, name, None) or row
    session = row if isinstance(row, ChatSession) else getattr(row, "session", None)
    return session.user.get_username() if session is not None else ""
