from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import IntegrityError, transaction

from llmconfig.clients import chat_client, normalised
from llmconfig.errors import ModelUnreachable, as_model_error
from llmconfig.models import LLMConfig
from llmconfig.offline import OfflineChatModel
from llmconfig.selection import LLMNotConfigured, ModelChoice, choose_config

pytestmark = pytest.mark.database


def make(name: str, **fields: Any) -> LLMConfig:
    return LLMConfig.objects.create(
        name=name, base_url="http://llm/v1", model=name, **fields
    )


def test_ones_own_goes_before_the_groups_before_the_sites(alice: User) -> None:
    group = Group.objects.create(name="lab")
    alice.groups.add(group)
    names = []
    rows = [make("site"), make("group", group=group), make("own", user=alice)]

    for row in reversed(rows):
        names.append(choose_config(user=alice).model)
        row.delete()

    assert names == ["own", "group", "site"]
    assert choose_config(user=alice).is_offline


def test_a_default_goes_before_others_of_its_kind(alice: User) -> None:
    make("first", user=alice)
    make("chosen", user=alice, is_default=True)
    make("site", is_default=True)

    assert choose_config(user=alice).model == "chosen"


def test_what_is_disabled_or_anothers_is_never_chosen(alice: User, bob: User) -> None:
    make("off", user=alice, is_enabled=False)
    make("bobs", user=bob, is_default=True)
    make("group", group=Group.objects.create(name="others"))

    assert choose_config(user=alice).is_offline


def test_without_any_it_says_what_to_do(alice: User, settings: Any) -> None:
    settings.OFFLINE_MODEL = False

    with pytest.raises(LLMNotConfigured) as caught:
        choose_config(user=alice)

    assert caught.value.code == "llm_not_configured"
    assert "your settings" in str(caught.value)


def test_a_config_has_one_owner_and_an_owner_one_default(alice: User) -> None:
    group = Group.objects.create(name="lab")
    make("one", user=alice, is_default=True)

    for wrong in ({"user": alice, "group": group}, {"user": alice, "is_default": True}):
        with pytest.raises(IntegrityError), transaction.atomic():
            make("two", **wrong)


@pytest.mark.parametrize(
    "url",
    [
        "http://llm/v1",
        " http://llm/v1/ ",
        "http://llm/v1/chat/completions",
        "http://llm/v1/chat/completions/",
    ],
)
def test_an_address_is_taken_as_people_paste_it(url: str) -> None:
    assert normalised(url) == "http://llm/v1"


def test_a_request_overrides_the_config(transactional_db: None) -> None:
    config = make("m", temperature=0.9, max_tokens=100, api_key="sk-hidden-key-1234")
    choice = ModelChoice(config, is_offline=False)

    plain: Any = chat_client(choice)
    asked: Any = chat_client(choice, temperature=0.0, max_tokens=5)

    assert (plain.temperature, plain.max_tokens) == (0.9, 100)
    assert (asked.temperature, asked.max_tokens) == (0.0, 5)
    assert "sk-hidden-key-1234" not in repr(asked)


def test_no_config_is_the_offline_model() -> None:
    model = chat_client(ModelChoice(None, is_offline=True))

    assert isinstance(model, OfflineChatModel)


def test_a_bug_is_not_taken_for_the_providers_failure() -> None:
    assert isinstance(as_model_error(TimeoutError()), ModelUnreachable)
    with pytest.raises(KeyError):
        as_model_error(KeyError("x"))
