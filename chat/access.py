"""Which session a person means: their own, in this project, or none."""

import uuid

from django.contrib.auth.models import User
from django.utils.translation import gettext

from chat.models import ChatSession, Message, Run
from copilot_site.identity import Identity
from copilot_site.lib.errors import NotFound, UserFacingError
from projects.access import NotAllowed, role_in
from projects.models import Project, Role


class SessionIdMalformed(UserFacingError):
    code = "session_id_malformed"
    status = 422


def checked_session_id(text: str) -> str:
    """A UUID in its usual form. Raises SessionIdMalformed."""
    try:
        return str(uuid.UUID(text))
    except ValueError:
        raise SessionIdMalformed(gettext("A session id is a UUID.")) from None


def session_for(user: User, project: Project, session_id: str) -> ChatSession:
    """Raises NotFound for another's session, and for one of another project."""
    rows = ChatSession.objects.owned_by(user).filter(
        project=project, thread_id=checked_session_id(session_id)
    )
    session = rows.select_related("user", "project__server").first()
    if session is None:
        raise NotFound(gettext("There is no such conversation."))
    return session


def conversation_for(
    identity: Identity, conversation_id: str, role: Role = Role.VIEWER
) -> ChatSession:
    """The person's own, in no project or in one that they may still enter.

    Raises NotFound, NotAllowed.
    """
    try:
        thread_id = checked_session_id(conversation_id)
    except SessionIdMalformed:
        raise NotFound(gettext("There is no such conversation.")) from None
    rows = ChatSession.objects.owned_by(identity.user).filter(thread_id=thread_id)
    session = rows.select_related("user", "project__server").first()
    if session is None:
        raise NotFound(gettext("There is no such conversation."))
    if session.project is not None:
        own = role_in(identity, session.project)
        if own is None:
            raise NotFound(gettext("There is no such conversation."))
        if not own.includes(role):
            raise NotAllowed(
                gettext("This needs the role %(role)s.") % {"role": role.label}
            )
    return session


def run_for(user: User, project: Project, run_id: str) -> Run:
    """Raises NotFound likewise."""
    run = run_in(project, run_id)
    if run.session.user_id != user.pk:
        raise NotFound(gettext("There is no such run."))
    return run


def run_in(project: Project, run_id: str) -> Run:
    """Anybody's run in this project. Raises NotFound."""
    try:
        key = uuid.UUID(run_id)
    except ValueError:
        raise NotFound(gettext("There is no such run.")) from None
    rows = Run.objects.filter(session__project=project, pk=key)
    run = rows.select_related("session").first()
    if run is None:
        raise NotFound(gettext("There is no such run."))
    return run


def run_of_approval(session: ChatSession, approval_id: str) -> Run:
    """Raises NotFound for an approval of another session."""
    rows = session.runs.filter(approvals__pk=uuid.UUID(approval_id)).select_related(
        "session"
    )
    run = rows.first()
    if run is None:
        raise NotFound(gettext("There is no such approval."))
    return run


def message_for(user: User, project: Project, message_id: str) -> Message:
    """Raises NotFound likewise."""
    try:
        key = uuid.UUID(message_id)
    except ValueError:
        raise NotFound(gettext("There is no such message.")) from None
    rows = Message.objects.filter(session__user=user, session__project=project, pk=key)
    message = rows.first()
    if message is None:
        raise NotFound(gettext("There is no such message."))
    return message
