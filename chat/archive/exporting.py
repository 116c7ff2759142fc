"""A project's conversations → one archive, without any secret."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import F, Q, QuerySet

from chat.archive import columns
from chat.archive.columns import Part
from chat.archive.container import writing
from chat.archive.snapshot import one_moment
from chat.models import Approval, ChatSession, LLMCall, Message, Run, ToolCall
from chat.models.run import FINISHED
from copilot_site.lib.secret_values import remember
from llmconfig.models import LLMConfig
from projects.models import Project, Server

KIND = "copilot-project-archive"


def export_project(project: Project, path: Path) -> dict[str, int]:
    """Rows by part. Raises ArchiveRefused."""
    about = {"project": {"project_id": project.project_id, "name": project.name}}
    with one_moment(), writing(path, KIND, about) as archive:
        _learn_secrets(project)
        return {
            part.name: archive.add_lines(part.name, part.rows(rows(project)))
            for part, rows in _QUERIES
        }


def _learn_secrets(project: Project) -> None:
    """Reading a secret makes it known to the mask: none may be in any text."""
    for rows in (
        LLMConfig.objects.values_list("api_key", flat=True),
        Server.objects.values_list("password", flat=True),
        Run.objects.filter(session__project=project)
        .exclude(status__in=FINISHED)
        .values_list("secrets", flat=True),
    ):
        for _ in rows.iterator(chunk_size=500):
            pass
    for secret in (
        *(settings.SECRET_KEY, *settings.ENCRYPTION_KEYS, settings.LLM_API_KEY),
        *(settings.GNS3_PASSWORD, settings.DEMOLAB_PASSWORD),
    ):
        remember(secret)


def _sessions(project: Project) -> QuerySet[Any]:
    return ChatSession.objects.filter(project=project).order_by("pk")


def _runs(project: Project) -> QuerySet[Any]:
    rows = Run.objects.filter(session__project=project)
    return rows.order_by("session__pk", "round")


def _messages(project: Project) -> QuerySet[Any]:
    rows = Message.objects.filter(session__project=project)
    return rows.order_by("session__pk", "round", "sequence")


def _tool_calls(project: Project) -> QuerySet[Any]:
    rows = ToolCall.objects.filter(run__session__project=project)
    return rows.order_by("run__session__pk", "run__round", "created_at", "pk")


def _approvals(project: Project) -> QuerySet[Any]:
    rows = Approval.objects.filter(run__session__project=project)
    return rows.order_by("run__session__pk", "run__round", "requested_at", "pk")


def _llm_calls(project: Project) -> QuerySet[Any]:
    """Those of deleted sessions too, at the end."""
    ours = Q(session__project=project)
    twins = Project.objects.filter(project_id=project.project_id).exclude(pk=project.pk)
    if not twins.exists():
        # They name the project only by its id, which another server may use too.
        ours |= Q(session=None, project_id=project.project_id)
    order = F("session__pk").asc(nulls_last=True)
    return LLMCall.objects.filter(ours).order_by(order, "pk")


_QUERIES: tuple[tuple[Part, Callable[[Project], QuerySet[Any]]], ...] = (
    (columns.SESSIONS, _sessions),
    (columns.RUNS, _runs),
    (columns.MESSAGES, _messages),
    (columns.TOOL_CALLS, _tool_calls),
    (columns.APPROVALS, _approvals),
    (columns.LLM_CALLS, _llm_calls),
)
