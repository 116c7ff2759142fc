from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import IntegrityError, transaction

from llmconfig.clients import chat_client, normalised
from llmconfig.errors import ModelKeyUnreadable, ModelUnreachable, as_model_error
from llmconfig.models import LLMConfig
from llmconfig.offline import OfflineChatModel
from llmconfig.selection import (
    LLMNotConfigured,
    ModelChoice,
    choose,
    choose_config,
)

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


# --- By operation, mode, capability and group -----------------------------------


def chosen(user: User, **wanted: Any) -> list[str]:
    """The models in the order in which they are asked."""
    return [one.model for one in choose(user=user, **wanted).chain()]


def test_everybody_gets_their_own(alice: User, bob: User) -> None:
    make("alices", user=alice)
    make("bobs", user=bob)

    assert (chosen(alice), chosen(bob)) == (["alices"], ["bobs"])


@pytest.mark.parametrize(
    ("operation", "model"),
    [
        ("chat", "general"),
        ("title", "titles"),
        ("analysis", "data"),
        ("web_search", "web"),
        ("planning", "general"),
    ],
)
def test_a_config_for_an_operation_is_taken_for_it_alone(
    alice: User, operation: str, model: str
) -> None:
    make("general", is_default=True)
    make("titles", operations=["title"])
    make("data", operations=["analysis"])
    make("web", operations=["web_search"])

    assert chosen(alice, operation=operation)[0] == model
    assert "titles" not in chosen(alice, operation="analysis")


def test_a_mode_is_matched_as_nearly_as_can_be(alice: User) -> None:
    make("thorough", mode="thorough", is_default=True)
    make("balanced", mode="balanced")
    make("fast", mode="fast")

    assert chosen(alice, mode="fast") == ["fast", "balanced", "thorough"]
    assert chosen(alice, mode="thorough") == ["thorough", "balanced", "fast"]
    assert chosen(alice, mode="balanced")[0] == "thorough"
    assert chosen(alice)[0] == "thorough"


def test_a_smaller_priority_goes_first_among_equals(alice: User) -> None:
    make("later", priority=20)
    make("sooner", priority=10)
    make("mine", user=alice, priority=30)

    assert chosen(alice) == ["mine", "sooner", "later"]


def test_what_a_role_may_not_use_is_never_chosen(alice: User, bob: User) -> None:
    staff = Group.objects.create(name="teachers")
    bob.groups.add(staff)
    make("expensive", is_default=True).allowed_groups.add(staff)
    make("cheap")

    assert chosen(alice) == ["cheap"]
    assert chosen(bob) == ["expensive", "cheap"]


def test_in_one_of_several_allowed_groups_is_enough(alice: User) -> None:
    groups = [Group.objects.create(name=name) for name in "abc"]
    alice.groups.add(groups[0], groups[1])
    make("m").allowed_groups.set(groups)

    assert chosen(alice) == ["m"]


def test_one_that_calls_tools_goes_before_ones_own_that_does_not(alice: User) -> None:
    make("mine", user=alice, supports_tools=False)
    make("unknown")
    make("site", supports_tools=True)

    assert chosen(alice, needs={"tools"}) == ["unknown", "site", "mine"]
    assert chosen(alice)[0] == "mine"


def test_what_cannot_do_what_is_needed_is_left_out(alice: User) -> None:
    make("blind", supports_vision=False)
    make("perhaps")

    assert chosen(alice, needs={"vision"}) == ["perhaps"]


def test_embeddings_and_speech_hold_no_conversation(alice: User, settings: Any) -> None:
    make("embedding", model_type="embedding")
    make("speech", model_type="tts")

    assert choose(user=alice).is_offline
    assert chosen(alice, operation="embedding") == ["embedding"]


def test_no_rules_make_embeddings(alice: User) -> None:
    with pytest.raises(LLMNotConfigured):
        choose(user=alice, operation="embedding")


def test_what_was_chosen_before_stays_while_it_may_be_used(alice: User) -> None:
    make("default", is_default=True)
    before = make("before")
    assert chosen(alice, first=before.pk) == ["before", "default"]

    LLMConfig.objects.filter(pk=before.pk).update(is_enabled=False)

    assert chosen(alice, first=before.pk) == ["default"]


def test_a_choice_says_why(alice: User) -> None:
    group = Group.objects.create(name="students")
    alice.groups.add(group)
    make("Quick", group=group, operations=["title"], mode="fast", is_default=True)

    reason = choose(user=alice, operation="title", mode="fast").reason

    assert reason == (
        "the config of your group “students” “Quick”, made for titles, mode fast, "
        "the default"
    )


def test_choosing_takes_one_query_whatever_there_is(
    alice: User, django_assert_num_queries: Any
) -> None:
    for number in range(20):
        make(str(number)).allowed_groups.add(Group.objects.create(name=str(number)))

    with django_assert_num_queries(1):
        choose(user=alice)


def test_a_key_that_cannot_be_read_says_so(alice: User, settings: Any) -> None:
    make("m", user=alice, api_key="sk-0123456789")
    settings.ENCRYPTION_KEYS = ["another-key-that-opens-nothing-old-at-all"]

    with pytest.raises(ModelKeyUnreadable):
        chat_client(choose(user=alice))


def test_a_client_is_made_of_address_model_and_the_opened_key(alice: User) -> None:
    make("m", user=alice, api_key="sk-0123456789", provider="openrouter")
    choice = choose(user=alice)
    assert choice.config is not None

    client: Any = chat_client(choice)

    assert choice.config.provider == "openrouter"
    assert client.model_name == "m"
    assert client.openai_api_key.get_secret_value() == "sk-0123456789"
    assert "sk-0123456789" not in f"{choice!r} {client!r}"
