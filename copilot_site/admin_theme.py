"""The admin's look and its menu, in the words of the glossary."""

from typing import Any

from django.templatetags.static import static
from django.urls import reverse_lazy


def _item(title: str, icon: str, model: str) -> dict[str, Any]:
    app, name = model.split(".")
    return {
        "title": title,
        "icon": icon,
        "link": reverse_lazy(f"admin:{app}_{name}_changelist"),
        "permission": lambda request: request.user.has_perm(f"{app}.view_{name}"),
    }


def _group(title: str, *items: dict[str, Any]) -> dict[str, Any]:
    return {"title": title, "items": list(items)}


# The page's accent, from light to dark.
_ACCENT = {
    "50": "#f1f7fb",
    "100": "#e4eff6",
    "200": "#c5dfee",
    "300": "#9cc3da",
    "400": "#7fc1ea",
    "500": "#2f86b8",
    "600": "#0e5e8c",
    "700": "#0a4a70",
    "800": "#0c3c59",
    "900": "#17303f",
    "950": "#06202f",
}

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Copilot",
    "SITE_HEADER": "Copilot",
    "SITE_SUBHEADER": "Operators",
    "SITE_ICON": lambda request: static("chat/icon.svg"),
    "COLORS": {"primary": _ACCENT},
    "DASHBOARD_CALLBACK": "chat.admin.dashboard.dashboard",
    "SIDEBAR": {
        "navigation": [
            _group(
                "Conversations",
                _item("Sessions", "forum", "chat.chatsession"),
                _item("Runs", "play_circle", "chat.run"),
                _item("Messages", "chat", "chat.message"),
                _item("Tool calls", "build", "chat.toolcall"),
                _item("Approvals", "rule", "chat.approval"),
                _item("Feedback", "thumbs_up_down", "chat.feedback"),
            ),
            _group(
                "Models",
                _item("LLM calls", "receipt_long", "chat.llmcall"),
                _item("LLM configs", "tune", "llmconfig.llmconfig"),
                _item("Profiles", "smart_toy", "profiles.profile"),
            ),
            _group(
                "Knowledge",
                _item("Collections", "folder_open", "knowledge.collection"),
                _item("Documents", "description", "knowledge.document"),
                _item("Attached files", "attach_file", "documents.attachment"),
                _item("Memory", "bookmark", "memory.memory"),
            ),
            _group(
                "Directory",
                _item("Records", "list_alt", "directory.record"),
                _item("Record imports", "upload_file", "directory.recordimport"),
                _item("Record kinds", "category", "directory.recordkind"),
            ),
            _group(
                "Labs",
                _item("Servers", "dns", "projects.server"),
                _item("Projects", "lan", "projects.project"),
                _item("Memberships", "badge", "projects.membership"),
            ),
            _group(
                "Site",
                _item("Users", "person", "auth.user"),
                _item("Groups", "group", "auth.group"),
                _item("Looks", "visibility", "accounts.look"),
                _item("Workers", "memory", "chat.worker"),
            ),
        ]
    },
}
