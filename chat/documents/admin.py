"""Files of conversations: what there is and how it was read; no text is shown."""

from django.contrib import admin

from chat.documents.models import Attachment
from copilot_site.admin_base import ReadOnlyAdmin


@admin.register(Attachment)
class AttachmentAdmin(ReadOnlyAdmin):
    list_display = ("id", "session", "round", "state", "error", "created_at")
    list_filter = ("state",)
    list_select_related = ("session", "file")
    list_per_page = 50
    search_fields = ("session__thread_id", "session__user__username")
    ordering = ("-created_at",)
    # A name may say as much as a message does.
    content_fields = ("name",)
    fields = (
        *("name", "session", "message", "round", "file", "state", "error"),
        *("pages", "characters", "uploaded_by", "created_at"),
    )
