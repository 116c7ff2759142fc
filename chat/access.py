"""Which session a person means: their own, in this project, or none."""

import uuid

from django.contrib.auth.models import User

from chat.models import ChatSession, Message, Run
from copilot_site.lib.errors import NotFound, UserFacingError
from projects.models import Project


class SessionIdMalformed(UserFacingError):
    code = "session_id_malformed"
    status = 422


def checked_session_id(text: str) -> str:
    """A UUID in its usual form. Raises SessionIdMalformed."""
    try:
        return str(uuid.UUID(text))
    except ValueError:
        raise SessionIdMalformed("A session id is a UUID.") from None


def session_for(user: User, project: Project, session_id: str) -> ChatSession:
    """Raises NotFound for another's session, and for one of another project."""
    rows = ChatSession.objects.owned_by(user).filter(
        project=project, thread_id=checked_session_id(session_id)
    )
    session = rows.select_related("user", "project__server").first()
    if session is None:
        raise NotFound("There is no such conversation.")
    return session


def run_for(user: User, project: Project, run_id: str) -> Run:
    """Raises NotFound likewise."""
    try:
        key = uuid.UUID(run_id)
    except ValueError:
        raise NotFound("There is no such run.") from None
    rows = Run.objects.owned_by(user).filter(session__project=project, pk=key)
    run = rows.select_related("session").first()
    if run is None:
        raise NotFound("There is no such run.")
    return run


def message_for(user: User, project: Project, message_id: str) -> Message:
    """Raises NotFound likewise."""
    try:
        key = uuid.UUID(message_id)
    except ValueError:
        raise NotFound("There is no such message.") from None
    rows = Message.objects.filter(session__user=user, session__project=project, pk=key)
    message = rows.first()
    if message is None:
        raise NotFound("There is no such message.")
    return message
