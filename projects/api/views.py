"""Projects in GNS3's shape. Async: they ask GNS3, and hold no thread meanwhile."""

from collections.abc import Awaitable, Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse

from copilot_site.api import api_view
from copilot_site.authentication import Identity
from copilot_site.lib.orm import in_orm_thread
from projects.access import project_for
from projects.api.serializers import project_json, topology_json, topology_view
from projects.connections import client_for
from projects.gns3.types import Gns3Topology
from projects.models import Membership, Project, Role
from projects.sync import refresh_all, refresh_project, set_opened
from projects.topology.svg import render_svg

View = Callable[..., Awaitable[HttpResponseBase]]


@api_view("GET")
async def project_list(request: HttpRequest, identity: Identity) -> HttpResponse:
    """My projects on all servers; servers that do not answer stand in a header."""
    errors = await refresh_all()
    projects = await in_orm_thread(_mine)(identity)
    response = JsonResponse(projects, safe=False)
    if errors:
        response["X-Servers-Unreachable"] = (
            ", ".join(sorted(errors)).encode("ascii", "replace").decode()
        )
    return response


@api_view("GET")
async def project_detail(
    request: HttpRequest, identity: Identity, project_id: str
) -> HttpResponse:
    project = await _project(request, identity, project_id, Role.VIEWER)
    project = await refresh_project(project)
    return await _answer(project, identity)


@api_view("POST")
async def project_open(
    request: HttpRequest, identity: Identity, project_id: str
) -> HttpResponse:
    project = await _project(request, identity, project_id, Role.MEMBER)
    return await _answer(await set_opened(project, opened=True), identity)


@api_view("POST")
async def project_close(
    request: HttpRequest, identity: Identity, project_id: str
) -> HttpResponse:
    project = await _project(request, identity, project_id, Role.ENGINEER)
    return await _answer(await set_opened(project, opened=False), identity)


@api_view("GET")
async def topology(
    request: HttpRequest, identity: Identity, project_id: str
) -> HttpResponse:
    project = await _project(request, identity, project_id, Role.VIEWER)
    seen = await _topology(project)
    is_simulated = project.server.is_simulated
    return JsonResponse(topology_json(seen, is_simulated=is_simulated))


@api_view("GET")
async def topology_svg(
    request: HttpRequest, identity: Identity, project_id: str
) -> HttpResponse:
    project = await _project(request, identity, project_id, Role.VIEWER)
    seen = await _topology(project)
    view = topology_view(seen, is_simulated=project.server.is_simulated)
    response = HttpResponse(render_svg(view), content_type="image/svg+xml")
    # Opened by itself, the picture needs its own style and nothing else.
    response["Content-Security-Policy"] = (
        "default-src 'none'; style-src 'unsafe-inline'"
    )
    return response


async def _topology(project: Project) -> Gns3Topology:
    return await client_for(project.server).topology(project.project_id)


async def _project(
    request: HttpRequest, identity: Identity, project_id: str, role: Role
) -> Project:
    server = request.headers.get("X-GNS3-Server", "")
    find = in_orm_thread(project_for)
    return await find(identity.user, project_id, role=role, server=server)


async def _answer(project: Project, identity: Identity) -> HttpResponse:
    role = await in_orm_thread(project.role_of)(identity.user)
    return JsonResponse(project_json(project, role))


def _mine(identity: Identity) -> list[dict[str, Any]]:
    projects = list(Project.objects.visible_to(identity.user).order_by("name", "pk"))
    own: dict[int, str] = dict(
        Membership.objects.filter(user=identity.user, project__in=projects).values_list(
            "project_id", "role"
        )
    )
    shown = []
    for project in projects:
        roles = [own.get(project.pk, ""), project.server.default_role]
        known = [Role(role) for role in roles if role]
        role = max(known, key=list(Role).index, default=None)
        shown.append(project_json(project, role))
    return shown
