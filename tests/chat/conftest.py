"""A conversation of alice, and models that answer it."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User

from chat.models import ChatSession, Run
from llmconfig import clients
from llmconfig.models import LLMConfig
from projects.models import Project
from tests.chat.support import make_run, make_session
from tests.fakes.provider import ScriptedProvider

API_KEY = "sk-key-of-the-tests-0123456789"


@pytest.fixture
def session(lab: Project, alice: User) -> ChatSession:
    return make_session(alice, lab)


@pytest.fixture
def run(session: ChatSession) -> Run:
    """Queued, with its question."""
    return make_run(session)


@pytest.fixture
def llm(provider: ScriptedProvider, transactional_db: None) -> Iterator[LLMConfig]:
    """The site's model is the scripted provider."""
    # The pool of connections belongs to one loop; each test has its own.
    clients._http.cache_clear()
    yield LLMConfig.objects.create(
        name="Scripted",
        base_url=provider.url,
        model="scripted-1",
        api_key=API_KEY,
        input_price=2,
        output_price=8,
    )
    clients._http.cache_clear()
