"""Which project a person means, and whether they may."""

import json
import uuid
from dataclasses import dataclass

from django.core.cache import caches
from django.utils.translation import gettext

from copilot_site.bearer import in_waiting_thread
from copilot_site.identity import Identity
from copilot_site.lib.errors import Conflict, NotFound, UserFacingError
from copilot_site.lib.orm import in_orm_thread
from projects.gns3.client import Gns3Client
from projects.gns3.errors import Gns3AuthFailed, Gns3Forbidden, Gns3NotFound
from projects.gns3.types import Gns3Project
from projects.identity import ask_gns3, cache_key
from projects.mirror import mark_deleted, store
from projects.models import Project, Role, Server

# For how long GNS3's word on one project of one person is kept.
_VERDICT_SECONDS = 3


class NotAllowed(UserFacingError):
    code = "forbidden"
    status = 403


class ProjectAmbiguous(Conflict):
    code = "project_ambiguous"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What GNS3 lets a person do in a project; no role: they may not see it."""

    role: Role | None
    project: Gns3Project | None = None


def project_for(
    identity: Identity, project_id: str, *, role: Role, server: str = ""
) -> Project:
    """The project with this GNS3 id, if the person has at least this role in it.

    Raises NotFound for a stranger, NotAllowed for a role too low, ProjectAmbiguous
    when two servers have the id and `server` names none, Gns3Error where GNS3
    decides and does not answer.
    """
    try:
        wanted = str(uuid.UUID(project_id))
    except ValueError:
        raise NotFound(gettext("There is no such project.")) from None
    project = _find(identity, wanted, server)
    own = role_in(identity, project)
    if own is None:
        raise NotFound(gettext("There is no such project."))
    if not own.includes(role):
        raise NotAllowed(
            gettext("This needs the role %(role)s in the project.")
            % {"role": role.label}
        )
    return project


async def find_project(
    identity: Identity, project_id: str, *, role: Role, server: str = ""
) -> Project:
    """`project_for` from a coroutine; waiting for GNS3 holds no shared thread."""
    run = in_waiting_thread if identity.gns3 else in_orm_thread
    return await run(project_for)(identity, project_id, role=role, server=server)


def role_in(identity: Identity, project: Project) -> Role | None:
    """By our roles, or by GNS3's word to the person's own token; None: stranger."""
    login = identity.gns3
    if login is not None and login.server_id != project.server_id:
        return None
    if not project.server.asks_gns3:
        return project.role_of(identity.user)
    if login is None:
        return None
    return verdict_of(identity, project.server, project.project_id).role


def verdict_of(identity: Identity, server: Server, project_id: str) -> Verdict:
    """GNS3's word, kept for seconds; the mirror learns what it says."""
    assert identity.gns3 is not None
    token = identity.gns3.token
    cache, key = caches["local"], cache_key(server, token, project_id)
    verdict: Verdict | None = cache.get(key)
    if verdict is None:
        verdict = _ask(server, token, project_id)
        cache.set(key, verdict, _VERDICT_SECONDS)
        if verdict.project is not None:
            store(server, [verdict.project])
    return verdict


def secrets_for(identity: Identity, project: Project) -> str:
    """What a run needs to act as this person: encrypted with it, wiped at its end."""
    if identity.gns3 is None or not project.server.asks_gns3:
        return ""
    role = role_in(identity, project)
    return json.dumps({"gns3_token": identity.gns3.token, "role": role or ""})


def token_for(identity: Identity, server: Server) -> str:
    """The person's own, where it acts; else the service account does."""
    return identity.gns3.token if identity.gns3 and server.asks_gns3 else ""


def _find(identity: Identity, project_id: str, server: str) -> Project:
    login = identity.gns3
    if login is None:
        rows = Project.objects.visible_to(identity.user)
    else:
        rows = Project.objects.present().filter(server=login.server_id)
    rows = rows.filter(project_id=project_id)
    if server:
        rows = rows.filter(server__name=server)
    found = list(rows[:2])
    if not found and login is not None:
        found = _not_mirrored_yet(identity, login.server_id, project_id)
    if not found:
        raise NotFound(gettext("There is no such project."))
    if len(found) > 1:
        raise ProjectAmbiguous(
            "Several servers have a project with this id: "
            "name one in the header X-GNS3-Server."
        )
    return found[0]


def _not_mirrored_yet(
    identity: Identity, server_id: int, project_id: str
) -> list[Project]:
    """A project that only its users' tokens show us."""
    server = Server.objects.get(pk=server_id)
    if not server.asks_gns3:
        return []
    if verdict_of(identity, server, project_id).role is None:
        return []
    rows = Project.objects.present().filter(server=server, project_id=project_id)
    return list(rows)


def _ask(server: Server, token: str, project_id: str) -> Verdict:
    async def ask(client: Gns3Client) -> Verdict:
        project = await client.project(project_id)
        # Consoles ask for no login: who may not use them in GNS3 only looks on.
        may_act = await client.may_use_consoles(project_id)
        return Verdict(Role.ENGINEER if may_act else Role.VIEWER, project)

    try:
        verdict: Verdict = ask_gns3(server, token, ask)
    except Gns3NotFound:
        mark_deleted(Project.objects.filter(server=server, project_id=project_id))
        return Verdict(None)
    except (Gns3Forbidden, Gns3AuthFailed):
        return Verdict(None)
    return verdict
