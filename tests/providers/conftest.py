"""A replaying provider, and models that ask it."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx
import pytest

from llmconfig import openai_model
from llmconfig.openai_model import OpenAIModel
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
    """Made as `llmconfig.clients` makes it."""
    async with httpx.AsyncClient(timeout=60) as http:

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
