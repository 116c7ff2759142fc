"""A replaying provider, and models that ask it."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User

from chat.agent.tools import TOOLS
from chat.models import ChatSession
from llmconfig import clients, openai_model
from llmconfig.models import LLMConfig
from llmconfig.openai_model import OpenAIModel
from projects.models import Project
from tests.chat.support import make_session, use_tools
from tests.conftest import Valkey
from tests.providers.agent import Probe
from tests.providers.replay import Replay

KEY = "sk-key-of-the-tests-0123456789"

MakeModel = Callable[..., OpenAIModel]


@pytest.fixture
def replay() -> Iterator[Replay]:
    with Replay() as server:
        yield server


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing remembered of other tests' servers."""
    monkeypatch.setattr(openai_model, "_BACKOFF", (0.01, 0.02))
    monkeypatch.setattr(openai_model, "_refused", {})
    monkeypatch.setattr(openai_model, "_wants_reasoning", {})


@pytest.fixture
async def make_model(replay: Replay) -> AsyncIterator[MakeModel]:
    """Made as `llmconfig.clients` makes it, with its pool of connections."""
    clients._http.cache_clear()
    async with clients._http(True) as http:

        def make(**options: Any) -> OpenAIModel:
            fields = {"model": "replayed", **options}
            return OpenAIModel(
                base_url=replay.url,
                api_key=KEY,
                max_retries=0,
                http_async_client=http,
                **fields,
            )

        yield make
    clients._http.cache_clear()


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> Probe:
    probe = Probe()
    use_tools(monkeypatch, {**TOOLS, "probe": probe.tool()})
    return probe


@pytest.fixture
def session(
    lab: Project, alice: User, replay: Replay, valkey: Valkey, settings: Any
) -> Iterator[ChatSession]:
    settings.STEP_LIMIT = 4
    # The pool of connections belongs to one loop; each test has its own.
    clients._http.cache_clear()
    LLMConfig.objects.create(
        name="Replay", base_url=replay.url, model="replayed", api_key=KEY
    )
    yield make_session(alice, lab, title="Named")
    clients._http.cache_clear()
