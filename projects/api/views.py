"""Projects in GNS3's shape. Async: they ask GNS3, and hold no thread meanwhile."""

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.translation import gettext
from django.views.decorators.csrf import csrf_exempt

from copilot_site.api import api_view, json_body
from copilot_site.authentication import Identity
from copilot_site.bearer import in_waiting_thread
from copilot_site.lib.errors import UserFacingError
from copilot_site.lib.orm import in_orm_thread
from projects.access import NotAllowed, find_project, role_in, token_for
from projects.api.serializers import project_json, topology_json, topology_view
from projects.connections import client_for
from projects.gns3.types import Gns3Topology
from projects.listing import projects_of, refresh_mine, server_for_new
from projects.models import Project, Role
from projects.sync import (
    create_project,
    delete_project,
    refresh_project,
    set_opened,
)
from projects.topology.svg import render_svg

_NAME_LENGTH = 255


class ProjectNameWrong(UserFacingError):
    code = "project_name_wrong"
    status = 422


@csrf_exempt
async def projects(request: HttpRequest) -> HttpResponseBase:
    """GNS3's one path for the list and for making one."""
    view = project_create if request.method == "POST" else project_list
    return await view(request)


@api_view("GET", "POST")
async def project_list(request: HttpRequest, identity: Identity) -> HttpResponse:
    """My projects on all servers; servers that do not answer stand in a header."""
    errors = await refresh_mine(identity)
    found = await in_waiting_thread(projects_of)(identity)
    response = JsonResponse(
        [project_json(project, role) for project, role in found], safe=False
    )
    if errors:
        response["X-Servers-Unreachable"] = (
            ", ".join(sorted(errors)).encode("ascii", "replace").decode()
        )
    return response


@api_view("POST")
async def project_create(request: HttpRequest, identity: Identity) -> HttpResponse:
    """A project of mine on the named server, or on the only one."""
    body = json_body(request)
    name = _checked_name(body.get("name"))
    named = request.headers.get("X-GNS3-Server") or str(body.get("server") or "")
    server = await in_orm_thread(server_for_new)(identity, named)
    project = await create_project(
        server, name, owner_id=identity.user.pk, token=token_for(identity, server)
    )
    role = await in_waiting_thread(role_in)(identity, project)
    return JsonResponse(project_json(project, role), status=201)


@csrf_exempt
async def project(request: HttpRequest, project_id: str) -> HttpResponseBase:
    """GNS3's one path for reading and deleting."""
    view = project_delete if request.method == "DELETE" else project_detail
    return await view(request, project_id=project_id)


@api_view("GET", "DELETE")
async def project_detail(
    request: HttpRequest, identity: Identity, project_id: str
) -> HttpResponse:
    found = await _project(request, identity, project_id, Role.VIEWER)
    token = token_for(identity, found.server)
    return await _answer(await refresh_project(found, token=token), identity)


@api_view("DELETE")
async def project_delete(
    request: HttpRequest, identity: Identity, project_id: str
) -> HttpResponse:
    """In GNS3, with all its conversations here a while later."""
    found = await _project(request, identity, project_id, Role.ENGINEER)
    own = await in_waiting_thread(role_in)(identity, found)
    # Where GNS3 decides it is asked now, in the person's own name.
    if not found.server.asks_gns3 and own != Role.OWNER:
        raise NotAllowed(gettext("Only an owner may delete a project."))
    token = token_for(identity, found.server)
    await delete_project(found, by=identity.user.get_username(), token=token)
    return HttpResponse(status=204)


@api_view("POST")
async def project_open(
    request: HttpRequest, identity: Identity, project_id: str
) -> HttpResponse:
    found = await _project(request, identity, project_id, Role.MEMBER)
    token = token_for(identity, found.server)
    return await _answer(await set_opened(found, opened=True, token=token), identity)


@api_view("POST")
async def project_close(
    request: HttpRequest, identity: Identity, project_id: str
) -> HttpResponse:
    """Its runs are stopped by the workers, within a second or so."""
    found = await _project(request, identity, project_id, Role.ENGINEER)
    token = token_for(identity, found.server)
    return await _answer(await set_opened(found, opened=False, token=token), identity)


@api_view("GET")
async def topology(
    request: HttpRequest, identity: Identity, project_id: str
) -> HttpResponse:
    project = await _project(request, identity, project_id, Role.VIEWER)
    seen = await _topology(identity, project)
    is_simulated = project.server.is_simulated
    return JsonResponse(topology_json(seen, is_simulated=is_simulated))


@api_view("GET")
async def topology_svg(
    request: HttpRequest, identity: Identity, project_id: str
) -> HttpResponse:
    project = await _project(request, identity, project_id, Role.VIEWER)
    seen = await _topology(identity, project)
    view = topology_view(seen, is_simulated=project.server.is_simulated)
    response = HttpResponse(render_svg(view), content_type="image/svg+xml")
    # Opened by itself, the picture needs its own style and nothing else.
    response["Content-Security-Policy"] = (
        "default-src 'none'; style-src 'unsafe-inline'"
    )
    return response


async def _topology(identity: Identity, project: Project) -> Gns3Topology:
    client = client_for(project.server, token=token_for(identity, project.server))
    return await client.topology(project.project_id)


async def _project(
    request: HttpRequest, identity: Identity, project_id: str, role: Role
) -> Project:
    server = request.headers.get("X-GNS3-Server", "")
    return await find_project(identity, project_id, role=role, server=server)


async def _answer(project: Project, identity: Identity) -> HttpResponse:
    role = await in_waiting_thread(role_in)(identity, project)
    return JsonResponse(project_json(project, role))


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or not name.strip() or len(name) > _NAME_LENGTH:
        raise ProjectNameWrong(
            gettext("A name has 1 to %(count)d characters.") % {"count": _NAME_LENGTH}
        )
    return name.strip()
