"""LLM configs: whose, which model, at which price; the key goes in and stays in."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import RelatedDropdownFilter

from copilot_site.admin_base import ModelAdmin
from copilot_site.admin_forms import SecretForm, check_address
from llmconfig.models import LLMConfig


class LLMConfigForm(SecretForm):
    secret = "api_key"
    secret_label = "API key"

    class Meta:
        labels = {"base_url": "Base URL"}

    def clean_base_url(self) -> str:
        return check_address(self.cleaned_data["base_url"])


@admin.register(LLMConfig)
class LLMConfigAdmin(ModelAdmin[LLMConfig]):
    form = LLMConfigForm
    list_display = (
        "name",
        "owner",
        "provider",
        "model",
        "base_url",
        "is_default",
        "is_enabled",
        "updated_at",
    )
    list_filter = (
        "is_enabled",
        "is_default",
        "provider",
        ("user", RelatedDropdownFilter),
        ("group", RelatedDropdownFilter),
    )
    list_select_related = ("user", "group")
    search_fields = ("name", "model", "base_url", "user__username", "group__name")
    autocomplete_fields = ("user", "group")
    ordering = ("name",)
    actions = ("enable", "disable")
    fieldsets = (
        (None, {"fields": ("name", "is_enabled", "is_default")}),
        (
            "Whose",
            {
                "fields": ("user", "group"),
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
                    "new_secret",
                    "forget_secret",
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
        ("History", {"fields": ("version", "created_at", "updated_at")}),
    )
    readonly_fields = ("version", "created_at", "updated_at")

    @admin.display(description="whose")
    def owner(self, config: LLMConfig) -> str:
        if config.group is not None:
            return f"group {config.group}"
        return str(config.user or "the site")

    def save_model(
        self, request: HttpRequest, obj: LLMConfig, form: Any, change: bool
    ) -> None:
        if change:
            obj.version += 1
        super().save_model(request, obj, form, change)

    @admin.action(description="Enable", permissions=["change"])
    def enable(self, request: HttpRequest, queryset: QuerySet[LLMConfig]) -> None:
        queryset.update(is_enabled=True)

    @admin.action(description="Disable", permissions=["change"])
    def disable(self, request: HttpRequest, queryset: QuerySet[LLMConfig]) -> None:
        queryset.update(is_enabled=False)
