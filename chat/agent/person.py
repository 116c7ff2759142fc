"""As whom a run acts: by our roles and the service account, or by its own token."""

import json
from dataclasses import dataclass, field

from chat.models import Run
from copilot_site.lib.fields import Unreadable
from projects.gns3.errors import Gns3LoginExpired
from projects.models import Role


@dataclass(frozen=True, slots=True)
class Person:
    may_change: bool
    gns3_token: str = field(default="", repr=False)


def person_of(run: Run) -> Person:
    """Reads the database. Raises Gns3LoginExpired where a token is needed and gone."""
    project = run.session.project
    if project is None:
        return Person(may_change=False)
    if not project.server.asks_gns3:
        role = project.role_of(run.session.user)
        return Person(role is not None and role.includes(Role.ENGINEER))
    if isinstance(run.secrets, Unreadable) or not run.secrets:
        raise Gns3LoginExpired(
            "In this project GNS3 decides who may what: ask with your GNS3 login."
        )
    secrets = json.loads(run.secrets)
    return Person(secrets["role"] == Role.ENGINEER, secrets["gns3_token"])
