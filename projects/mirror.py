"""Rows of projects as their servers were seen: written here alone."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import QuerySet
from django.utils import timezone

from projects.gns3.types import Gns3Project
from projects.models import Project, Server


def store(
    server: Server, seen: Iterable[Gns3Project], *, asked_at: datetime | None = None
) -> None:
    """Take over what was seen, unless something newer is known than `asked_at`."""
    now = timezone.now()
    newer: set[str] = set()
    if asked_at is not None:
        # A slow answer must not close again what was opened meanwhile.
        rows = Project.objects.filter(server=server, seen_at__gt=asked_at)
        newer = set(rows.values_list("project_id", flat=True))
    Project.objects.bulk_create(
        [
            Project(
                server=server,
                project_id=project.project_id,
                name=project.name[:255],
                status=project.status,
                seen_at=now,
                deleted_at=None,
                deleted_by="",
            )
            for project in seen
            if project.project_id not in newer
        ],
        update_conflicts=True,
        unique_fields=["server", "project_id"],
        update_fields=["name", "status", "seen_at", "deleted_at", "deleted_by"],
    )


def store_one(
    project: Project, seen: Gns3Project, *, asked_at: datetime | None = None
) -> Project:
    """The project as it is now by all that is known."""
    store(project.server, [seen], asked_at=asked_at)
    project.refresh_from_db(fields=["name", "status", "seen_at", "deleted_at"])
    return project


def mark_deleted(rows: QuerySet[Project], *, by: str = "") -> None:
    """Hide them at once; what they hold is purged later."""
    rows.filter(deleted_at=None).update(deleted_at=timezone.now(), deleted_by=by[:150])


def missing(server: Server, listed: Iterable[Gns3Project]) -> list[str]:
    """Ids that we know of this server and that its list does not show."""
    ids = {project.project_id for project in listed}
    rows = Project.objects.filter(server=server, deleted_at=None)
    return [
        found for found in rows.values_list("project_id", flat=True) if found not in ids
    ]
