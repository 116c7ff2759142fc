"""LLM configs: whose, which model, at which price; the key goes in and stays in."""

from typing import Any

from asgiref.sync import async_to_sync
from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from unfold.contrib.filters.admin import RelatedDropdownFilter
from unfold.decorators import action
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from copilot_site.admin_base import ModelAdmin
from copilot_site.admin_forms import SecretForm, check_address
from copilot_site.lib.fields import Unreadable
from copilot_site.lib.outbound import reach
from llmconfig.kinds import Operation
from llmconfig.models import LLMConfig
from llmconfig.probe import Report, probe
from llmconfig.selection import LLMNotConfigured, choose


class LLMConfigForm(SecretForm):
    secret = "api_key"
    secret_label = "API key"

    operations = forms.MultipleChoiceField(
        choices=Operation.choices,
        required=False,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="What it is taken for; none: everything.",
    )

    class Meta:
        labels = {
            "base_url": "Base URL",
            "supports_tools": "Calls functions",
            "supports_vision": "Reads pictures",
            "supports_structured_output": "Keeps to a JSON schema",
            "supports_reasoning": "Thinks before it answers",
        }

    def clean_base_url(self) -> str:
        return check_address(self.cleaned_data["base_url"])


_HISTORY = ("version", "created_at", "updated_at")


@admin.register(LLMConfig)
class LLMConfigAdmin(ModelAdmin[LLMConfig]):
    form = LLMConfigForm
    list_display = (
        "name",
        "owner",
        "provider",
        "model",
        "base_url",
        "taken_for",
        "mode",
        "priority",
        "is_default",
        "is_enabled",
        "updated_at",
    )
    list_filter = (
        "is_enabled",
        "is_default",
        "mode",
        "model_type",
        "provider",
        ("user", RelatedDropdownFilter),
        ("group", RelatedDropdownFilter),
    )
    list_select_related = ("user", "group")
    search_fields = ("name", "model", "base_url", "user__username", "group__name")
    autocomplete_fields = ("user", "group")
    filter_horizontal = ("allowed_groups",)
    actions_detail = ("test_connection",)
    ordering = ("name",)
    actions = ("enable", "disable")
    fieldsets = (
        (None, {"fields": ("name", "is_enabled")}),
        (
            "Whose",
            {
                "fields": ("user", "group", "allowed_groups"),
                "description": "Neither: the whole site's. A person's own config is "
                "taken before a group's, and a group's before the site's.",
            },
        ),
        (
            "Model",
            {
                "fields": (
                    "provider",
                    "base_url",
                    "model",
                    "model_type",
                    "new_secret",
                    "forget_secret",
                ),
                "description": "Private addresses must be in LLM_PRIVATE_HOSTS.",
            },
        ),
        (
            "When it is taken",
            {
                "fields": ("operations", "mode", "is_default", "priority", "order"),
                "description": "Where one is down, used up or too small for the "
                "conversation, the next in this order goes on.",
            },
        ),
        (
            "What it can",
            {
                "fields": (
                    "supports_tools",
                    "prompts_tools",
                    "supports_vision",
                    "supports_structured_output",
                    "supports_reasoning",
                    "sends_reasoning",
                )
            },
        ),
        (
            "Limits",
            {
                "fields": (
                    "temperature",
                    "max_tokens",
                    "context_limit",
                    "context_strategy",
                )
            },
        ),
        ("Prices", {"fields": ("input_price", "output_price")}),
        ("Privacy", {"fields": ("redacts",)}),
        (
            "History",
            {"fields": ("extra", "made_by_staff", *_HISTORY), "classes": ("collapse",)},
        ),
    )
    readonly_fields = ("order", "extra", "made_by_staff", *_HISTORY)

    @admin.display(description="whose")
    def owner(self, config: LLMConfig) -> str:
        if config.group is not None:
            return f"group {config.group}"
        return str(config.user or "the site")

    @admin.display(description="taken for")
    def taken_for(self, config: LLMConfig) -> str:
        return ", ".join(config.operations) or "everything"

    @admin.display(description="asked in this order")
    def order(self, config: LLMConfig) -> str:
        """Of a user's config: all that may answer the user; else the owner's."""
        if config.user is not None:
            try:
                rows = [one.config for one in choose(user=config.user).chain()]
            except LLMNotConfigured:
                rows = []
        else:
            same = LLMConfig.objects.filter(user=None, group=config.group)
            enabled = same.filter(is_enabled=True)
            rows = list(enabled.order_by("-is_default", "priority", "pk"))
        names = [one.name for one in rows if one is not None]
        return " → ".join(names) or "–"

    @action(description="Test connection", permissions=["change"])  # type: ignore[untyped-decorator]  # unfold
    def test_connection(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """One tiny question; what came back is told on the page."""
        config = get_object_or_404(LLMConfig, pk=object_id)
        if isinstance(config.api_key, Unreadable):
            self.message_user(request, _UNREADABLE, messages.ERROR)
        else:
            report: Report = async_to_sync(probe)(
                base_url=config.base_url,
                model=config.model,
                api_key=str(config.api_key),
                reach=reach(is_trusted=config.is_trusted),
            )
            level = messages.SUCCESS if report.ok else messages.ERROR
            self.message_user(request, _told(report), level)
        return redirect("admin:llmconfig_llmconfig_change", object_id)

    def save_model(
        self, request: HttpRequest, obj: LLMConfig, form: Any, change: bool
    ) -> None:
        if change:
            obj.version += 1
        if not change or "base_url" in form.changed_data:
            obj.made_by_staff = True
        super().save_model(request, obj, form, change)

    @admin.action(description="Enable", permissions=["change"])
    def enable(self, request: HttpRequest, queryset: QuerySet[LLMConfig]) -> None:
        queryset.update(is_enabled=True)

    @admin.action(description="Disable", permissions=["change"])
    def disable(self, request: HttpRequest, queryset: QuerySet[LLMConfig]) -> None:
        queryset.update(is_enabled=False)


_UNREADABLE = "The stored key cannot be read with today's encryption keys."


def _told(report: Report) -> str:
    """In one line; the page shows no more."""
    parts = [f"{report.message} {report.hint}".strip()]
    parts.append(f"Called: {report.address} ({report.elapsed_ms} ms).")
    if report.ok:
        calls = {True: "yes", False: "no", None: "unknown"}[report.tool_calls]
        parts.append(f"Streams: {'yes' if report.streaming else 'no'}.")
        parts.append(f"Calls functions: {calls}. It said: {report.text}")
    return " ".join(parts)
