"""The mirror: projects as their servers have them now."""

import asyncio
import logging
import time
from collections.abc import Iterable

from django.utils import timezone

from copilot_site.lib.errors import UserFacingError
from copilot_site.lib.orm import in_orm_thread
from projects.connections import client_for
from projects.gns3.errors import Gns3NotFound
from projects.gns3.types import Gns3Project
from projects.models import Project, Server

logger = logging.getLogger(__name__)

_LIST_SECONDS = 4.0
_FRESH_SECONDS = 3.0

_listed_at: dict[int, float] = {}


async def refresh_all() -> dict[str, str]:
    """Read every server's list, at most every few seconds; errors by server name."""
    servers = await in_orm_thread(_enabled_servers)()
    due = [
        server
        for server in servers
        if time.monotonic() - _listed_at.get(server.pk, float("-inf")) > _FRESH_SECONDS
    ]
    errors = await asyncio.gather(*(_refresh(server) for server in due))
    return {
        server.name: error for server, error in zip(due, errors, strict=True) if error
    }


async def refresh_project(project: Project) -> Project:
    """As the server has it now; unchanged where the server does not answer."""
    client = client_for(project.server)
    try:
        async with asyncio.timeout(_LIST_SECONDS):
            seen = await client.project(project.project_id)
    except Gns3NotFound:
        await in_orm_thread(_mark_deleted)(project)
        return project
    except (UserFacingError, TimeoutError) as error:
        logger.info("Project %s not refreshed: %s", project.project_id, error)
        return project
    return await in_orm_thread(_store_one)(project, seen)


async def set_opened(project: Project, *, opened: bool) -> Project:
    """Open or close it on its server. Raises Gns3Error."""
    client = client_for(project.server)
    act = client.open_project if opened else client.close_project
    await act(project.project_id)
    seen = await client.project(project.project_id)
    return await in_orm_thread(_store_one)(project, seen)


async def _refresh(server: Server) -> str:
    client = client_for(server)
    try:
        async with asyncio.timeout(_LIST_SECONDS):
            seen = await client.projects()
    except (UserFacingError, TimeoutError) as error:
        # An empty or missing list proves nothing: what was known stays.
        return str(error) or "The GNS3 server does not answer in time."
    _listed_at[server.pk] = time.monotonic()
    await in_orm_thread(_store)(server, seen)
    return ""


def is_fresh(project: Project) -> bool:
    return (timezone.now() - project.seen_at).total_seconds() < _FRESH_SECONDS


def _enabled_servers() -> list[Server]:
    return list(Server.objects.filter(is_enabled=True))


def _store(server: Server, seen: Iterable[Gns3Project]) -> None:
    now = timezone.now()
    Project.objects.bulk_create(
        [
            Project(
                server=server,
                project_id=project.project_id,
                name=project.name[:255],
                status=project.status,
                seen_at=now,
                deleted_at=None,
            )
            for project in seen
        ],
        update_conflicts=True,
        unique_fields=["server", "project_id"],
        update_fields=["name", "status", "seen_at", "deleted_at"],
    )


def _store_one(project: Project, seen: Gns3Project) -> Project:
    project.name, project.status = seen.name[:255], Project.Status(seen.status)
    project.seen_at, project.deleted_at = timezone.now(), None
    project.save(update_fields=["name", "status", "seen_at", "deleted_at"])
    return project


def _mark_deleted(project: Project) -> None:
    project.deleted_at = timezone.now()
    project.save(update_fields=["deleted_at"])
