"""Whatever the description allows is answered as it says, and never by a 5xx of ours.

Streams are left out: they have tests of their own.
"""

import itertools
from typing import Any

import pytest
import schemathesis
from django.contrib.auth.models import User
from django.core.wsgi import get_wsgi_application
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from chat.models import ChatSession
from chat.models.run import Status
from copilot_site.description import description
from llmconfig.models import LLMConfig
from projects.models import Project
from tests.chat.api.conftest import bearer
from tests.chat.support import make_run, make_session
from tests.conftest import LAB_ID, Valkey

pytestmark = pytest.mark.needs("valkey")

STREAMS = r"/stream$|/events$|^/api/chat$"
# It would end the login that all examples share.
LOG_OUT = r"/logout$"
# The GNS3 server of these tests refuses every connection, which is no fault of ours.
OF_GNS3 = {502}
CHECKS = [
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]

schema = schemathesis.openapi.from_dict(description()).exclude(
    path_regex=f"{STREAMS}|{LOG_OUT}"
)
application = get_wsgi_application()
turn = itertools.count()


@pytest.fixture
def ids(valkey: Valkey, lab: Project, alice: User) -> dict[str, str]:
    """A project, a session, a run and a message that exist."""
    session: ChatSession = make_session(alice, lab, title="Any")
    run = make_run(session, status=Status.SUCCEEDED)
    message = run.messages.create(
        session=session, round=1, sequence=2, role="assistant", content="Done."
    )
    # Nobody listens there.
    config = LLMConfig.objects.create(
        name="Mine", user=alice, base_url="http://127.0.0.1:9/v1", model="m"
    )
    return {
        "user_id": str(alice.pk),
        "config_id": str(config.pk),
        "project_id": LAB_ID,
        "session_id": session.thread_id,
        "conversation_id": session.thread_id,
        "run_id": str(run.pk),
        "message_id": str(message.pk),
    }


@schema.parametrize()
@settings(
    max_examples=20,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_an_operation_answers_as_described(
    case: Any, ids: dict[str, str], alice: User
) -> None:
    # Three of four times what exists, so that more than 404 is seen.
    if case.path_parameters and next(turn) % 4:
        known = {key: ids[key] for key in case.path_parameters if key in ids}
        case.path_parameters.update(known)

    response = case.call(app=application, headers=bearer(alice))

    checks = [*CHECKS]
    if response.status_code not in OF_GNS3:
        checks.append(not_a_server_error)
    case.validate_response(response, checks=checks)
