"""Whose notes there are, and how many; what they say is the person's own."""

from django.contrib import admin
from unfold.contrib.filters.admin import RelatedDropdownFilter

from chat.memory.models import Memory
from copilot_site.admin_base import ReadOnlyAdmin


@admin.register(Memory)
class MemoryAdmin(ReadOnlyAdmin):
    list_display = ("user", "project", "created_at", "said_at")
    list_filter = (
        ("user", RelatedDropdownFilter),
        ("project", RelatedDropdownFilter),
    )
    list_select_related = ("user", "project")
    list_per_page = 50
    search_fields = ("user__username",)
    ordering = ("-said_at",)
    content_fields = ("text",)
    fields = ("user", "project", "text", "created_at", "said_at")
