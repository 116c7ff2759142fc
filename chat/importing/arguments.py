"""What import commands are told on the command line."""

import re

from django.contrib.auth.models import User
from django.core.management.base import CommandError

from projects.models import Project, Server


def pairs(texts: list[str]) -> list[tuple[str, str]]:
    """Raises CommandError for what is not A=B."""
    found = [text.partition("=") for text in texts]
    for source, sign, name in found:
        if not (source and sign and name):
            raise CommandError(f"{source!r} is not of the form SOURCE=USERNAME.")
    return [(source, name) for source, _, name in found]


def find_user(name: str) -> User:
    try:
        return User.objects.get(username=name)
    except User.DoesNotExist:
        raise CommandError(f"There is no user {name} here.") from None


def find_project(project_id: str, server: str) -> Project:
    """Raises CommandError when it is unknown, or on several servers."""
    rows = Project.objects.filter(project_id=project_id).select_related("server")
    if server:
        if not Server.objects.filter(name=server).exists():
            raise CommandError(f"There is no server {server} here.")
        rows = rows.filter(server__name=server)
    found = list(rows)
    if not found:
        raise CommandError(
            f"There is no project {project_id} here. Open the project list once, so"
            " that it is read from its server."
        )
    if len(found) > 1:
        names = ", ".join(project.server.name for project in found)
        raise CommandError(f"Several servers have it; choose with --server: {names}.")
    return found[0]


def printable(text: str) -> str:
    """A title may hold terminal control characters."""
    return re.sub(r"[^\x20-\x7e\u00a0-\U0010ffff]", "?", text)
