"""What a project archive holds of each model, and how its lines are checked."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models

from chat.archive.errors import ArchiveDamaged
from chat.importing.plain import moment, storable
from chat.models import Approval, ChatSession, LLMCall, Message, Run, ToolCall
from copilot_site.lib.secret_values import mask

TOKENS = ("input_tokens", "output_tokens")
COUNTERS = ("message_count", "llm_calls_count", *TOKENS)


@dataclass(frozen=True)
class Part:
    """One file of the archive: its model, columns, and names that stand for rows."""

    name: str
    model: type[models.Model]
    columns: tuple[str, ...]
    # Key in the archive → look-up of a name that is the same everywhere.
    links: dict[str, str] = field(default_factory=dict)
    # Never archived: secrets, and what means nothing elsewhere.
    left_out: frozenset[str] = frozenset()
    # Archives of earlier versions do not have them.
    newer: frozenset[str] = frozenset()

    def rows(self, queryset: models.QuerySet[Any]) -> Iterator[dict[str, Any]]:
        """Only the archived columns leave the database; known secrets are masked."""
        wanted = {name: models.F(path) for name, path in self._paths().items()}
        texts = {
            name
            for name in self.columns
            if isinstance(self._field(name), models.TextField | models.JSONField)
        } | {"title"}
        for row in queryset.values(*self.columns, **wanted).iterator(chunk_size=500):
            for name in texts & row.keys():
                row[name] = masked(row[name])
            yield {name.removeprefix("of_"): value for name, value in row.items()}

    def _paths(self) -> dict[str, str]:
        # An annotation may not bear the name of a field.
        return {f"of_{name}": path for name, path in self.links.items()}

    def _field(self, name: str) -> Any:
        return self.model._meta.get_field(name)

    def parse(self, row: dict[str, Any]) -> dict[str, Any]:
        """Column values that the database takes. Raises ArchiveDamaged."""
        known = {*self.columns, *self.links}
        if not known - self.newer <= row.keys() <= known:
            raise ArchiveDamaged(
                f"A line of {self.name} has other fields than it should."
            )
        for name in self.links:
            value = row[name]
            if value is not None and not _is_name(value):
                raise ArchiveDamaged(f"A {name} in {self.name} is no name.")
        found = [name for name in self.columns if name in row]
        return {name: self._value(name, row[name]) for name in found}

    def _value(self, name: str, value: Any) -> Any:
        column = self._field(name)
        try:
            found = _python(column, storable(value))
        except (ValidationError, ValueError, TypeError, OverflowError) as exc:
            raise ArchiveDamaged(f"A {name} in {self.name} is not valid.") from exc
        return found


def masked(value: Any) -> Any:
    """Every text in it without any secret that this process knows."""
    match value:
        case str():
            return mask(value)
        case list():
            return [masked(item) for item in value]
        case dict():
            return {mask(str(key)): masked(item) for key, item in value.items()}
        case _:
            return value


def _is_name(value: Any) -> bool:
    """Of a user or a session, as their columns hold it."""
    return isinstance(value, str) and 0 < len(value) <= 150 and storable(value) == value


def _python(column: Any, value: Any) -> Any:
    if value is None:
        if column.null:
            return None
        raise ValueError("may not be empty")
    if isinstance(column, models.ForeignKey | models.OneToOneField):
        return column.target_field.to_python(value)
    if isinstance(column, models.DateTimeField):
        found: datetime | None = moment(value)
        if found is None:
            raise ValueError("no time")
        return found
    if isinstance(column, models.JSONField):
        if not isinstance(value, dict):
            raise TypeError("no object")
        return value
    is_text = isinstance(column, models.CharField | models.TextField)
    if is_text and not isinstance(value, str):
        raise TypeError("no text")
    found_value = column.to_python(value)
    column.run_validators(found_value)
    if column.choices and found_value not in dict(column.flatchoices):
        raise ValueError("no such choice")
    return found_value


SESSIONS = Part(
    "sessions.jsonl",
    ChatSession,
    (
        *("thread_id", "title", "is_title_final", *COUNTERS, "total_tokens"),
        *("last_message_at", "created_at", "updated_at"),
        *("metadata", "stats", "pinned"),
    ),
    {"user": "user__username"},
    frozenset({"id", "project_id"}),
)
RUNS = Part(
    "runs.jsonl",
    Run,
    (
        *("id", "round", "status", "reason", "error_code", "error", "attempt"),
        *(
            "takeovers",
            "saved_seq",
            "profile",
            "profile_version",
            *("agent", "options"),
            "temperature",
            "max_tokens",
            *COUNTERS,
        ),
        *("created_at", "published_at", "started_at", "finished_at"),
        "stop_requested_at",
    ),
    {"session": "session__thread_id"},
    frozenset({"worker_id", "llm_config_id", "request_key", "secrets"}),
    frozenset({"profile_version", "agent", "options"}),
)
MESSAGES = Part(
    "messages.jsonl",
    Message,
    (
        *("id", "run_id", "parent_id", "round", "sequence", "role", "content"),
        *("reasoning", "name", "tool_call_id", "finish_reason", "is_partial"),
        *("metadata", "created_at"),
    ),
    {"session": "session__thread_id"},
)
TOOL_CALLS = Part(
    "tool_calls.jsonl",
    ToolCall,
    (
        *("id", "run_id", "message_id", "result_id", "call_id", "position", "name"),
        *("arguments", "effect", "extra", "evidence", "status", "attempt"),
        *("created_at", "started_at", "finished_at", "elapsed_ms"),
    ),
    {"session": "run__session__thread_id"},
    newer=frozenset({"evidence"}),
)
APPROVALS = Part(
    "approvals.jsonl",
    Approval,
    (
        *("id", "run_id", "tool_call_id", "status", "proposal", "state"),
        *("asked_arguments", "arguments", "reason"),
        *("requested_at", "decided_at"),
    ),
    {"session": "run__session__thread_id", "decided_by": "decided_by__username"},
)
LLM_CALLS = Part(
    "llm_calls.jsonl",
    LLMCall,
    (
        *("run_id", "username", "provider", "model", "operation", "status", "attempt"),
        *("finish_reason", "error_code", "reason", *TOKENS, "total_tokens"),
        *("input_price", "output_price", "cost"),
        *("started_at", "first_token_at", "finished_at"),
    ),
    {"session": "session__thread_id", "user": "user__username"},
    frozenset({"id", "project_id", "project_name"}),
)
PARTS = (SESSIONS, RUNS, MESSAGES, TOOL_CALLS, APPROVALS, LLM_CALLS)
