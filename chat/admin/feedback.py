"""What people thought of answers: by day, model and person."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from unfold.contrib.filters.admin import RangeDateFilter, RelatedDropdownFilter

from chat.admin.looks import LooksAreLogged
from chat.models import Feedback
from copilot_site.admin_base import ReadOnlyAdmin, may_read_content


@admin.register(Feedback)
class FeedbackAdmin(LooksAreLogged, ReadOnlyAdmin):
    lists_content = True
    content_fields = ("comment", "answer")
    list_filter = (
        "value",
        ("message__session__user", RelatedDropdownFilter),
        ("updated_at", RangeDateFilter),
    )
    list_select_related = ("message__session__user",)
    list_per_page = 50
    ordering = ("-updated_at",)
    show_full_result_count = False
    fields = (
        "value",
        "comment",
        "person",
        "answered_by",
        "session",
        "answer",
        "updated_at",
    )
    readonly_fields = ("person", "answered_by", "session", "answer")

    def get_list_display(self, request: HttpRequest) -> Any:
        columns = ["value", "person", "answered_by", "session", "updated_at"]
        if may_read_content(request):
            columns.insert(1, "comment")
        return columns

    @admin.display(ordering="message__session__user__username")
    def person(self, feedback: Feedback) -> str:
        return feedback.message.session.user.get_username()

    @admin.display
    def answered_by(self, feedback: Feedback) -> str:
        return str(feedback.message.metadata.get("model", ""))

    @admin.display
    def session(self, feedback: Feedback) -> str:
        return feedback.message.session.thread_id

    @admin.display
    def answer(self, feedback: Feedback) -> str:
        return feedback.message.content
