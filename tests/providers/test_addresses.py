"""Base URLs as people write them."""

from collections.abc import Iterator

import pytest

from llmconfig import clients
from llmconfig.clients import chat_client, normalised
from llmconfig.models import LLMConfig
from llmconfig.openai_model import OpenAIModel
from llmconfig.selection import ModelChoice
from tests.providers.asking import put
from tests.providers.replay import Replay


@pytest.fixture(autouse=True)
def _own_pool() -> Iterator[None]:
    """The pool of connections belongs to one loop; each test has its own."""
    clients._http.cache_clear()
    yield
    clients._http.cache_clear()


@pytest.mark.parametrize(
    ("written", "used"),
    [
        ("http://h", "http://h"),
        ("http://h/", "http://h"),
        ("http://h/v1/", "http://h/v1"),
        (" http://h/v1 \n", "http://h/v1"),
        ("http://h/v1/chat/completions", "http://h/v1"),
        ("http://h/v1/chat/completions/", "http://h/v1"),
        ("http://h/openai/v2", "http://h/openai/v2"),
    ],
)
def test_base_url_is_used_as_it_was_meant(written: str, used: str) -> None:
    assert normalised(written) == used


@pytest.mark.parametrize(
    "ending", ["", "/", "/chat/completions", "/chat/completions/ "]
)
async def test_request_goes_to_one_path_however_the_address_ends(
    ending: str, replay: Replay
) -> None:
    config = LLMConfig(base_url=f" {replay.url}{ending}", model="a/b:free", api_key="")
    model = chat_client(ModelChoice(config, is_offline=False))
    assert isinstance(model, OpenAIModel)

    outcome = await put(model)

    assert outcome.answer.text == "Fine."
    assert replay.paths == ["/v1/chat/completions"]
    assert replay.bodies[0]["model"] == "a/b:free"


async def test_missing_v1_stays_missing(replay: Replay) -> None:
    url = replay.url.removesuffix("/v1")
    config = LLMConfig(base_url=url, model="m", api_key="")
    model = chat_client(ModelChoice(config, is_offline=False))
    assert isinstance(model, OpenAIModel)

    await put(model)

    assert replay.paths == ["/chat/completions"]
