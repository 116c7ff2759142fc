"""Sessions: who talks where, how much it took, and the few things to do about it."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.humanize.templatetags.humanize import intcomma
from django.core.exceptions import ValidationError
from django.db.models import Count, QuerySet, Sum
from django.http import HttpRequest
from unfold.contrib.filters.admin import RangeDateFilter, RelatedDropdownFilter

from chat.admin.looks import LooksAreLogged
from chat.deletion import delete_session
from chat.models import ChatSession, Message, Run
from chat.runs import stop_session
from copilot_site.admin_base import ModelAdmin, ReadOnlyInline


class RunInline(ReadOnlyInline):
    model = Run
    fields = (
        "status",
        "reason",
        "attempt",
        "message_count",
        "llm_calls_count",
        "input_tokens",
        "output_tokens",
        "created_at",
        "finished_at",
    )
    readonly_fields = fields
    ordering = ("-round",)


class MessageInline(ReadOnlyInline):
    """Django shows it only to who may view messages."""

    model = Message
    fields = ("role", "beginning", "is_partial", "created_at")
    readonly_fields = fields
    ordering = ("-round", "-sequence")

    @admin.display(description="content")
    def beginning(self, message: Message) -> str:
        text = message.content
        return text if len(text) <= 300 else f"{text[:300]}…"


class SessionForm(forms.ModelForm):  # type: ignore[type-arg] # no subscript at run time
    def clean_title(self) -> str:
        title: str = self.cleaned_data["title"].strip()
        if not title and "title" in self.changed_data:
            raise ValidationError("A title has at least one character.")
        return title


def _count(field: str, title: str) -> Callable[[ChatSession], str]:
    """A narrow column: the fields' own names would squeeze the title."""

    @admin.display(description=title, ordering=field)
    def column(session: ChatSession) -> str:
        return intcomma(getattr(session, field))

    return column


@admin.register(ChatSession)
class ChatSessionAdmin(LooksAreLogged, ModelAdmin[ChatSession]):
    form = SessionForm
    list_display = (
        "name",
        "user",
        "project",
        "pinned",
        _count("message_count", "messages"),
        _count("llm_calls_count", "LLM calls"),
        _count("input_tokens", "tokens in"),
        _count("output_tokens", "tokens out"),
        _count("total_tokens", "tokens"),
        "last_message_at",
    )
    list_filter = (
        "pinned",
        ("user", RelatedDropdownFilter),
        ("project", RelatedDropdownFilter),
        ("last_message_at", RangeDateFilter),
    )
    list_select_related = ("user", "project")
    list_per_page = 50
    search_fields = ("title", "thread_id", "user__username")
    ordering = ("-pinned", "-updated_at", "-id")
    actions = ("pin", "unpin", "stop")
    fieldsets = (
        (None, {"fields": ("title", "pinned")}),
        ("Whose", {"fields": ("user", "project", "thread_id")}),
        (
            "Counted",
            {
                "fields": (
                    "message_count",
                    "llm_calls_count",
                    "input_tokens",
                    "output_tokens",
                    "total_tokens",
                )
            },
        ),
        ("When", {"fields": ("created_at", "updated_at", "last_message_at")}),
    )
    readonly_fields = (
        "user",
        "project",
        "thread_id",
        "message_count",
        "llm_calls_count",
        "input_tokens",
        "output_tokens",
        "total_tokens",
        "created_at",
        "updated_at",
        "last_message_at",
    )
    inlines = (RunInline, MessageInline)

    @admin.display(description="title", ordering="title")
    def name(self, session: ChatSession) -> str:
        return str(session)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def save_model(
        self, request: HttpRequest, obj: ChatSession, form: Any, change: bool
    ) -> None:
        # Field by field: a run that ends meanwhile counts in the same row.
        if "title" in form.changed_data:
            obj.rename(obj.title)
        if "pinned" in form.changed_data:
            obj.pin(pinned=obj.pinned)

    def delete_model(self, request: HttpRequest, obj: ChatSession) -> None:
        delete_session(obj)

    def delete_queryset(
        self, request: HttpRequest, queryset: QuerySet[ChatSession]
    ) -> None:
        for session in queryset:
            delete_session(session)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Titles and sums: a list of every message would be long, and content."""
        keys = [session.pk for session in objs]
        found = ChatSession.objects.filter(pk__in=keys).aggregate(
            sessions=Count("pk"), messages=Sum("message_count", default=0)
        )
        return [str(session) for session in objs], found, set(), []

    @admin.action(description="Pin", permissions=["change"])
    def pin(self, request: HttpRequest, queryset: QuerySet[ChatSession]) -> None:
        for session in queryset:
            session.pin(pinned=True)

    @admin.action(description="Unpin", permissions=["change"])
    def unpin(self, request: HttpRequest, queryset: QuerySet[ChatSession]) -> None:
        for session in queryset:
            session.pin(pinned=False)

    @admin.action(description="Stop what runs", permissions=["change"])
    def stop(self, request: HttpRequest, queryset: QuerySet[ChatSession]) -> None:
        stopped = sum(stop_session(s, reason="operator") for s in queryset)
        messages.info(request, f"{stopped} runs were told to stop.")
