"""A config's address is called only where it may be, and nothing of that comes back."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from langchain_core.messages import HumanMessage
from pytest_django import Settings

from copilot_site.lib import outbound
from llmconfig import clients
from llmconfig.clients import chat_client
from llmconfig.errors import ModelAddressRefused, ModelRedirected
from llmconfig.models import LLMConfig
from llmconfig.selection import ModelChoice
from llmconfig.streaming import ask
from tests.copilot_site.lib.test_outbound import INSIDE, resolving
from tests.fakes.provider import ScriptedProvider, fails

KEY = "sk-key-of-the-tests-0123456789"


@pytest.fixture(autouse=True)
def _own_pool() -> Iterator[None]:
    clients._http.cache_clear()
    yield
    clients._http.cache_clear()


async def answer(config: LLMConfig) -> str:
    model = chat_client(ModelChoice(config, is_offline=False))
    deltas = ask(model, [HumanMessage("Why?")])
    return "".join([delta.text async for delta in deltas])


def of_a_user(url: str, **fields: object) -> LLMConfig:
    return LLMConfig(user=User(pk=1), base_url=url, model="m", api_key=KEY, **fields)


@pytest.mark.parametrize("url", INSIDE)
async def test_a_users_config_leads_nowhere_inside(url: str) -> None:
    with pytest.raises(ModelAddressRefused):
        await answer(of_a_user(url))


async def test_a_name_that_leads_inside_is_refused_in_words(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolving(monkeypatch, ["127.0.0.1"])
    url = provider.url.replace("127.0.0.1", "models.example")

    with pytest.raises(ModelAddressRefused, match="LLM_PRIVATE_HOSTS"):
        await answer(of_a_user(url))

    assert provider.requests == []


async def test_an_operators_config_may_use_what_is_listed(
    provider: ScriptedProvider, settings: Settings
) -> None:
    settings.LLM_PRIVATE_HOSTS = [provider.url.split("/")[2]]

    assert await answer(of_a_user(provider.url, made_by_staff=True))


async def test_an_operators_config_may_not_use_what_is_not_listed(
    provider: ScriptedProvider, settings: Settings
) -> None:
    settings.LLM_PRIVATE_HOSTS = []

    with pytest.raises(ModelAddressRefused):
        await answer(LLMConfig(base_url=provider.url, model="m", api_key=KEY))


async def test_a_redirect_inside_takes_nothing_there(
    provider: ScriptedProvider, settings: Settings
) -> None:
    target = "http://169.254.169.254/latest"
    provider.script(fails(307, "secret of the machine", {"Location": target}))

    with pytest.raises(ModelRedirected) as caught:
        await answer(LLMConfig(base_url=provider.url, model="m", api_key=KEY))

    assert "secret of the machine" not in str(caught.value)
    assert "169.254" not in str(caught.value)


def test_pools_of_the_trusted_and_of_others_are_apart() -> None:
    assert clients._http(True) is not clients._http(False)
    assert clients._http(True) is clients._http(True)
    assert outbound.reach(is_trusted=False).private == frozenset()
