"""The projects a person sees, over all servers, with their role in each."""

from django.utils.translation import gettext

from copilot_site.identity import Identity
from copilot_site.lib.errors import Conflict, NotFound, UserFacingError
from copilot_site.lib.orm import in_orm_thread
from projects.access import NotAllowed, token_for, verdict_of
from projects.models import Membership, Project, Role, Server
from projects.sync import list_with_token, refresh_all

# Each costs a question to GNS3; a person has few that no list of theirs shows.
_ASKED = 50

Mine = list[tuple[Project, Role | None]]


class ServerAmbiguous(Conflict):
    code = "server_ambiguous"


async def refresh_mine(identity: Identity) -> dict[str, str]:
    """Bring the mirror up to date; errors by server name."""
    login = identity.gns3
    if login is None:
        return await refresh_all()
    server = await in_orm_thread(Server.objects.get)(pk=login.server_id)
    if not server.asks_gns3:
        return await refresh_all()
    try:
        await list_with_token(server, login.token)
    except (UserFacingError, TimeoutError) as error:
        return {server.name: str(error) or "It does not answer in time."}
    return {}


def projects_of(identity: Identity) -> Mine:
    """By name. Raises Gns3Error where GNS3 decides and does not answer."""
    login = identity.gns3
    rows = Project.objects.visible_to(identity.user)
    if login is not None:
        rows = rows.filter(server=login.server_id)
    return [*_by_our_roles(identity, list(rows)), *_by_gns3(identity)]


def server_for_new(identity: Identity, name: str) -> Server:
    """Where this person may make a project.

    Raises NotFound, NotAllowed, ServerAmbiguous.
    """
    rows = Server.objects.filter(is_enabled=True)
    if identity.gns3 is not None:
        rows = rows.filter(pk=identity.gns3.server_id)
    if name:
        rows = rows.filter(name=name)
    found = list(rows[:2])
    if not found:
        raise NotFound(gettext("There is no such server."))
    if len(found) > 1:
        raise ServerAmbiguous("Name the server in the header X-GNS3-Server.")
    server = found[0]
    if token_for(identity, server):
        # GNS3 decides, when it is asked.
        return server
    role = Role(server.default_role) if server.default_role else None
    if server.asks_gns3 or role is None or not role.includes(Role.ENGINEER):
        raise NotAllowed(gettext("On this server only its engineers make projects."))
    return server


def _by_our_roles(identity: Identity, projects: list[Project]) -> Mine:
    own: dict[int, str] = dict(
        Membership.objects.filter(user=identity.user, project__in=projects).values_list(
            "project_id", "role"
        )
    )
    shown: Mine = []
    for project in sorted(projects, key=lambda each: (each.name, each.pk)):
        roles = [own.get(project.pk, ""), project.server.default_role]
        known = [Role(role) for role in roles if role]
        shown.append((project, max(known, key=list(Role).index, default=None)))
    return shown


def _by_gns3(identity: Identity) -> Mine:
    """GNS3 lists only what is inherited; what is shared singly is asked for singly."""
    if identity.gns3 is None:
        return []
    rows = Project.objects.present().filter(
        server=identity.gns3.server_id, server__access=Server.Access.PER_USER
    )
    shown: Mine = []
    for project in rows.order_by("-seen_at")[:_ASKED]:
        verdict = verdict_of(identity, project.server, project.project_id)
        if verdict.role is not None:
            shown.append((project, verdict.role))
    return sorted(shown, key=lambda each: (each[0].name, each[0].pk))
