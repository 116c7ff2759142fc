"""Projects are read from their servers, opened, closed, made and deleted there."""

import asyncio
import logging
import time
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext

from copilot_site.lib.errors import NotFound, UserFacingError
from copilot_site.lib.orm import in_orm_thread
from projects.connections import client_for
from projects.gns3.client import Gns3Client
from projects.gns3.errors import Gns3Error, Gns3NotFound
from projects.gns3.types import Gns3Project
from projects.mirror import mark_deleted, missing, store, store_one
from projects.models import Membership, Project, Role, Server

logger = logging.getLogger(__name__)

_LIST_SECONDS = 4.0
_FRESH_SECONDS = 3.0
# Of those that a list lacks, so many are asked for at a time.
_LOOKED_FOR = 20

_listed_at: dict[int, float] = {}


async def refresh_all() -> dict[str, str]:
    """Read every server's list, at most every few seconds; errors by server name."""
    servers = await in_orm_thread(_listed_servers)()
    due = [
        server
        for server in servers
        if time.monotonic() - _listed_at.get(server.pk, float("-inf")) > _FRESH_SECONDS
    ]
    errors = await asyncio.gather(*(_refresh(server) for server in due))
    return {
        server.name: error for server, error in zip(due, errors, strict=True) if error
    }


async def list_with_token(server: Server, token: str) -> None:
    """The mirror learns what this person's list shows. Raises Gns3Error."""
    client = client_for(server, token=token)
    asked_at = timezone.now()
    async with asyncio.timeout(_LIST_SECONDS):
        seen = await client.projects()
    await in_orm_thread(store)(server, seen, asked_at=asked_at)


async def refresh_project(project: Project, *, token: str = "") -> Project:
    """As the server has it now; unchanged where the server does not answer.

    Raises NotFound where it is there no longer.
    """
    client = client_for(project.server, token=token)
    asked_at = timezone.now()
    try:
        async with asyncio.timeout(_LIST_SECONDS):
            seen = await client.project(project.project_id)
    except Gns3NotFound:
        await in_orm_thread(_mark_deleted)(project)
        raise NotFound(gettext("The project was deleted in GNS3.")) from None
    except (UserFacingError, TimeoutError) as error:
        logger.info("Project %s not refreshed: %s", project.project_id, error)
        return project
    return await in_orm_thread(store_one)(project, seen, asked_at=asked_at)


async def set_opened(project: Project, *, opened: bool, token: str = "") -> Project:
    """Open or close it on its server. Raises Gns3Error."""
    client = client_for(project.server, token=token)
    act = client.open_project if opened else client.close_project
    await act(project.project_id)
    seen = await client.project(project.project_id)
    return await in_orm_thread(store_one)(project, seen)


async def create_project(
    server: Server, name: str, *, owner_id: int, token: str = ""
) -> Project:
    """On its server, then here; who made it owns it. Raises Gns3Error."""
    seen = await client_for(server, token=token).create_project(name)
    return await in_orm_thread(_store_new)(server, seen, owner_id)


async def delete_project(project: Project, *, by: str, token: str = "") -> None:
    """On its server; only what is gone there goes here. Raises Gns3Error."""
    try:
        await client_for(project.server, token=token).delete_project(project.project_id)
    except Gns3NotFound:
        logger.info("Project %s was deleted in GNS3 before", project.project_id)
    await in_orm_thread(_mark_deleted)(project, by)


async def _refresh(server: Server) -> str:
    client = client_for(server)
    asked_at = timezone.now()
    try:
        async with asyncio.timeout(_LIST_SECONDS):
            seen = await client.projects()
            gone = await _gone(server, client, seen)
    except (UserFacingError, TimeoutError) as error:
        # An empty or missing list proves nothing: what was known stays.
        return str(error) or "The GNS3 server does not answer in time."
    _listed_at[server.pk] = time.monotonic()
    await in_orm_thread(_store)(server, seen, gone, asked_at)
    return ""


async def _gone(
    server: Server, client: Gns3Client, seen: list[Gns3Project]
) -> list[str]:
    """What the list lacks and the server denies when asked for it by id."""
    lacking = await in_orm_thread(missing)(server, seen)

    async def is_gone(project_id: str) -> bool:
        try:
            await client.project(project_id)
        except Gns3NotFound:
            return True
        except Gns3Error:
            return False
        return False

    asked = lacking[:_LOOKED_FOR]
    answers = await asyncio.gather(*map(is_gone, asked))
    return [found for found, gone in zip(asked, answers, strict=True) if gone]


def is_fresh(project: Project) -> bool:
    return (timezone.now() - project.seen_at).total_seconds() < _FRESH_SECONDS


def _listed_servers() -> list[Server]:
    """Those of which a service account sees the projects."""
    service = Server.Access.SERVICE
    return list(Server.objects.filter(is_enabled=True, access=service))


def _store(
    server: Server, seen: list[Gns3Project], gone: list[str], asked_at: datetime
) -> None:
    store(server, seen, asked_at=asked_at)
    rows = Project.objects.filter(server=server, project_id__in=gone)
    mark_deleted(rows.filter(seen_at__lte=asked_at))


def _store_new(server: Server, seen: Gns3Project, owner_id: int) -> Project:
    store(server, [seen])
    rows = Project.objects.select_related("server")
    project = rows.get(server=server, project_id=seen.project_id)
    if not server.asks_gns3:
        Membership.objects.get_or_create(
            project=project, user_id=owner_id, defaults={"role": Role.OWNER}
        )
    return project


def _mark_deleted(project: Project, by: str = "") -> None:
    mark_deleted(Project.objects.filter(pk=project.pk), by=by)
