"""Runs, messages, tool calls, approvals, workers: what happened, for reading only."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import RangeDateFilter, RelatedDropdownFilter

from chat.admin.looks import LooksAreLogged
from chat.models import Approval, LLMCall, Message, Run, ToolCall, Worker
from chat.runs import stop_run
from copilot_site.admin_base import ReadOnlyAdmin, ReadOnlyInline


class ToolCallInline(ReadOnlyInline):
    model = ToolCall
    fields = ("name", "effect", "status", "attempt", "elapsed_ms", "started_at")
    readonly_fields = fields


class ApprovalInline(ReadOnlyInline):
    model = Approval
    fields = ("tool_call", "status", "requested_at", "decided_at", "decided_by")
    readonly_fields = fields


class LLMCallInline(ReadOnlyInline):
    model = LLMCall
    fields = (
        "operation",
        "status",
        "attempt",
        "input_tokens",
        "output_tokens",
        "cost",
        "started_at",
        "finished_at",
    )
    readonly_fields = fields


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = (
        "short_id",
        "user",
        "session",
        "round",
        "status",
        "attempt",
        "worker",
        "input_tokens",
        "output_tokens",
        "created_at",
        "finished_at",
    )
    list_filter = (
        "status",
        ("session__user", RelatedDropdownFilter),
        ("created_at", RangeDateFilter),
    )
    list_select_related = ("session__user", "worker")
    list_per_page = 50
    search_fields = ("id", "session__thread_id", "session__user__username")
    ordering = ("-created_at",)
    show_full_result_count = False
    actions = ("stop",)
    fields = (
        "session",
        "user",
        "round",
        "status",
        "reason",
        "error_code",
        "error",
        "worker",
        "attempt",
        "saved_seq",
        "llm_config",
        "profile",
        "profile_version",
        "temperature",
        "max_tokens",
        "message_count",
        "llm_calls_count",
        "input_tokens",
        "output_tokens",
        "created_at",
        "started_at",
        "stop_requested_at",
        "finished_at",
    )
    readonly_fields = ("user",)
    inlines = (ToolCallInline, ApprovalInline, LLMCallInline)

    @admin.display(description="run", ordering="pk")
    def short_id(self, run: Run) -> str:
        return str(run.pk)[:8]

    @admin.display(ordering="session__user__username")
    def user(self, run: Run) -> str:
        return run.session.user.get_username()

    def has_stop_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("chat.change_run")

    @admin.action(description="Stop", permissions=["stop"])
    def stop(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        runs = queryset.select_related("session")
        stopped = sum(stop_run(run, reason="operator") for run in runs)
        messages.info(request, f"{stopped} runs were told to stop.")


@admin.register(Message)
class MessageAdmin(LooksAreLogged, ReadOnlyAdmin):
    """As a whole behind its own permission, which is the one for content."""

    lists_content = True

    list_display = ("place", "role", "beginning", "session", "is_partial", "created_at")
    list_filter = ("role", "is_partial", ("created_at", RangeDateFilter))
    list_select_related = ("session",)
    list_per_page = 50
    search_fields = ("content", "session__thread_id")
    ordering = ("-created_at",)
    show_full_result_count = False
    fields = (
        "session",
        "run",
        "parent",
        "round",
        "sequence",
        "role",
        "name",
        "content",
        "reasoning",
        "tool_call_id",
        "finish_reason",
        "is_partial",
        "metadata",
        "created_at",
    )

    @admin.display(ordering="round")
    def place(self, message: Message) -> str:
        return f"{message.round}.{message.sequence}"

    @admin.display(description="content")
    def beginning(self, message: Message) -> str:
        text = message.content
        return text if len(text) <= 100 else f"{text[:100]}…"


@admin.register(ToolCall)
class ToolCallAdmin(LooksAreLogged, ReadOnlyAdmin):
    content_fields = ("arguments", "output", "extra", "result", "message")
    list_display = (
        "name",
        "effect",
        "status",
        "attempt",
        "elapsed_ms",
        "run",
        "created_at",
    )
    list_filter = ("name", "status", "effect", ("created_at", RangeDateFilter))
    list_select_related = ("run",)
    list_per_page = 50
    search_fields = ("name", "call_id", "run__session__thread_id")
    ordering = ("-created_at",)
    show_full_result_count = False
    fields = (
        "run",
        "call_id",
        "name",
        "effect",
        "status",
        "attempt",
        "position",
        "arguments",
        "output",
        "created_at",
        "started_at",
        "finished_at",
        "elapsed_ms",
    )
    readonly_fields = ("output",)

    @admin.display
    def output(self, call: ToolCall) -> str:
        return call.result.content if call.result else ""


@admin.register(Approval)
class ApprovalAdmin(LooksAreLogged, ReadOnlyAdmin):
    content_fields = ("proposal", "asked_arguments", "arguments", "reason")
    list_display = (
        "id",
        "tool_call",
        "status",
        "requested_at",
        "decided_at",
        "decided_by",
    )
    list_filter = (
        "status",
        "tool_call__name",
        ("run__session__user", RelatedDropdownFilter),
        ("decided_by", RelatedDropdownFilter),
        ("requested_at", RangeDateFilter),
    )
    list_select_related = ("tool_call", "decided_by")
    search_fields = ("run__id", "tool_call__call_id", "run__session__thread_id")
    show_full_result_count = False
    list_per_page = 50
    ordering = ("-requested_at",)
    fields = (
        "run",
        "tool_call",
        "status",
        "proposal",
        "state",
        "asked_arguments",
        "arguments",
        "reason",
        "requested_at",
        "decided_at",
        "decided_by",
    )


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    list_display = ("hostname", "pid", "started_at", "heartbeat_at")
    fields = list_display
    ordering = ("-heartbeat_at",)
