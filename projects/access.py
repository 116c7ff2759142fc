"""Which project a person means, and whether they may."""

import uuid

from django.contrib.auth.models import User

from copilot_site.lib.errors import Conflict, NotFound, UserFacingError
from projects.models import Project, Role


class NotAllowed(UserFacingError):
    code = "forbidden"
    status = 403


class ProjectAmbiguous(Conflict):
    code = "project_ambiguous"


def project_for(
    user: User, project_id: str, *, role: Role, server: str = ""
) -> Project:
    """The project with this GNS3 id, if the user has at least this role in it.

    Raises NotFound for a stranger, NotAllowed for a role too low, ProjectAmbiguous
    when two servers have the id and `server` names none.
    """
    try:
        wanted = str(uuid.UUID(project_id))
    except ValueError:
        raise NotFound("There is no such project.") from None
    rows = Project.objects.visible_to(user).filter(project_id=wanted)
    if server:
        rows = rows.filter(server__name=server)
    found = list(rows[:2])
    if not found:
        raise NotFound("There is no such project.")
    if len(found) > 1:
        raise ProjectAmbiguous(
            "Several servers have a project with this id: "
            "name one in the header X-GNS3-Server."
        )
    project = found[0]
    own = project.role_of(user)
    if own is None or not own.includes(role):
        raise NotAllowed(f"This needs the role {role.label.lower()} in the project.")
    return project
