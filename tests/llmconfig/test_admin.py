"""Keys go in and never come out."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import Settings

from copilot_site.lib.fields import Unreadable
from llmconfig.models import LLMConfig
from tests.fakes.provider import ScriptedProvider

pytestmark = pytest.mark.django_db

KEY = "sk-test-0123456789-wxyz"
LIST = "admin:llmconfig_llmconfig_changelist"


@pytest.fixture
def config() -> LLMConfig:
    return LLMConfig.objects.create(
        name="Site", base_url="http://models:8080/v1", model="small", api_key=KEY
    )


def page_of(config: LLMConfig) -> str:
    return reverse("admin:llmconfig_llmconfig_change", args=[config.pk])


def form(**changes: object) -> dict[str, object]:
    return {
        "name": "Site",
        "provider": "openai",
        "base_url": "http://models:8080/v1",
        "model": "small",
        "context_limit": 128,
        "context_strategy": "balanced",
        "model_type": "text",
        "mode": "balanced",
        "priority": 100,
        "supports_tools": "unknown",
        "supports_vision": "unknown",
        "supports_structured_output": "unknown",
        "supports_reasoning": "unknown",
        "is_enabled": "on",
        **changes,
    }


def lose_the_key(settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = ["another-key-that-opens-nothing-old-at-all"]


def test_anonymous_is_sent_to_the_login(client: Client) -> None:
    assert "/admin/login/" in client.get(reverse(LIST))["Location"]


def test_a_user_who_is_no_operator_is_refused(client: Client) -> None:
    client.force_login(User.objects.create_user("bob"))

    assert "/admin/login/" in client.get(reverse(LIST))["Location"]


def test_a_key_is_stored_encrypted(admin_client: Client) -> None:
    url = reverse("admin:llmconfig_llmconfig_add")

    admin_client.post(url, form(new_secret=KEY))

    assert LLMConfig.objects.get().api_key == KEY
    with connection.cursor() as cursor:
        cursor.execute("SELECT api_key FROM llmconfig_llmconfig")
        assert KEY.encode() not in bytes(cursor.fetchone()[0])


def test_no_page_shows_the_key(admin_client: Client, config: LLMConfig) -> None:
    wrong = form(new_secret=KEY, base_url="nonsense")

    pages = [
        admin_client.get(page_of(config)),
        admin_client.get(reverse(LIST)),
        admin_client.post(page_of(config), wrong),
        admin_client.get(
            reverse("admin:llmconfig_llmconfig_history", args=[config.pk])
        ),
        admin_client.get(reverse("admin:llmconfig_llmconfig_delete", args=[config.pk])),
    ]

    assert "…wxyz" in pages[0].content.decode()
    for page in pages:
        assert page.status_code == 200
        assert KEY not in page.content.decode()


def test_of_a_short_key_nothing_is_shown(
    admin_client: Client, config: LLMConfig
) -> None:
    config.api_key = "tiny-key"
    config.save()

    page = admin_client.get(page_of(config)).content.decode()

    assert "-key" not in page.split("Stored: ")[1][:20]


def test_an_empty_field_keeps_the_key(admin_client: Client, config: LLMConfig) -> None:
    admin_client.post(page_of(config), form(model="large"))

    config.refresh_from_db()
    assert (config.model, config.api_key, config.version) == ("large", KEY, 2)


def test_a_new_key_replaces_the_old(admin_client: Client, config: LLMConfig) -> None:
    admin_client.post(page_of(config), form(new_secret="sk-new-9876543210-abcd"))

    config.refresh_from_db()
    assert config.api_key == "sk-new-9876543210-abcd"
    assert "sk-new" not in LogEntry.objects.get().change_message


def test_a_key_can_be_forgotten(admin_client: Client, config: LLMConfig) -> None:
    admin_client.post(page_of(config), form(forget_secret="on"))

    config.refresh_from_db()
    assert config.api_key == ""


def test_an_unreadable_key_is_reported_and_kept(
    admin_client: Client, config: LLMConfig, settings: Settings
) -> None:
    ring = settings.ENCRYPTION_KEYS
    lose_the_key(settings)

    page = admin_client.get(page_of(config)).content.decode()
    admin_client.post(page_of(config), form(model="large"))

    assert "none of the encryption keys opens it" in page
    settings.ENCRYPTION_KEYS = ring
    config.refresh_from_db()
    assert (config.model, config.api_key) == ("large", KEY)


def test_an_unreadable_key_is_not_overwritten_by_accident(
    admin_client: Client, config: LLMConfig, settings: Settings
) -> None:
    lose_the_key(settings)

    page = admin_client.post(page_of(config), form(new_secret="sk-new-9876543210"))

    assert "not overwritten" in page.content.decode().replace("\n", " ")
    config.refresh_from_db()
    assert isinstance(config.api_key, Unreadable)


def test_an_unreadable_key_is_replaced_on_purpose(
    admin_client: Client, config: LLMConfig, settings: Settings
) -> None:
    lose_the_key(settings)

    admin_client.post(
        page_of(config), form(new_secret="sk-new-9876543210", forget_secret="on")
    )

    config.refresh_from_db()
    assert config.api_key == "sk-new-9876543210"


@pytest.mark.parametrize(
    "address",
    ["models/v1", "ftp://models/v1", "http://", "http://a:b@models/v1", "http://x:y"],
)
def test_an_address_that_cannot_be_one_is_refused(
    admin_client: Client, config: LLMConfig, address: str
) -> None:
    admin_client.post(page_of(config), form(base_url=address))

    config.refresh_from_db()
    assert config.base_url == "http://models:8080/v1"


def test_configs_are_disabled_and_enabled(
    admin_client: Client, config: LLMConfig
) -> None:
    states = []
    for action in ("disable", "enable"):
        data = {"action": action, "_selected_action": [config.pk]}
        admin_client.post(reverse(LIST), data)
        config.refresh_from_db()
        states.append(config.is_enabled)

    assert states == [False, True]


def test_a_second_default_of_one_user_is_refused_in_words(
    admin_client: Client, admin_user: User
) -> None:
    url = reverse("admin:llmconfig_llmconfig_add")
    mine = form(user=admin_user.pk, is_default="on")
    admin_client.post(url, mine)

    page = admin_client.post(url, mine)

    assert page.status_code == 200
    assert LLMConfig.objects.count() == 1


def test_the_list_asks_as_many_queries_for_thirty_rows_as_for_one(
    admin_client: Client, admin_user: User, config: LLMConfig
) -> None:
    admin_client.get(reverse(LIST))
    with CaptureQueriesContext(connection) as few:
        admin_client.get(reverse(LIST))
    for number in range(30):
        LLMConfig.objects.create(
            name=str(number), base_url="http://m/v1", model="m", user=admin_user
        )

    with CaptureQueriesContext(connection) as many:
        admin_client.get(reverse(LIST))

    assert len(many) <= len(few) + 1  # the filter by user appears with its first user


def test_all_fields_can_be_set(admin_client: Client, config: LLMConfig) -> None:
    group = Group.objects.create(name="students")
    changes = {
        "operations": ["chat", "title"],
        "mode": "fast",
        "priority": 5,
        "supports_tools": "false",
        "prompts_tools": "on",
        "allowed_groups": [group.pk],
        "model_type": "vision",
    }

    admin_client.post(page_of(config), form(**changes))

    config.refresh_from_db()
    assert config.operations == ["chat", "title"]
    assert (config.mode, config.priority) == ("fast", 5)
    assert (config.supports_tools, config.supports_vision) == (False, None)
    assert [one.name for one in config.allowed_groups.all()] == ["students"]


def test_an_address_that_an_operator_writes_is_trusted(
    admin_client: Client, admin_user: User
) -> None:
    config = LLMConfig.objects.create(
        name="Of a user", user=admin_user, base_url="http://m/v1", model="m"
    )
    user = {"user": admin_user.pk}

    admin_client.post(page_of(config), form(base_url="http://m/v1", **user))
    config.refresh_from_db()
    assert not config.made_by_staff

    admin_client.post(page_of(config), form(base_url="http://n/v1", **user))
    config.refresh_from_db()
    assert config.made_by_staff


def test_the_order_in_which_configs_are_asked_is_shown(
    admin_client: Client, admin_user: User, config: LLMConfig
) -> None:
    own = LLMConfig.objects.create(
        name="Own", user=admin_user, base_url="http://m/v1", model="m"
    )

    assert "Own → Site" in admin_client.get(page_of(own)).content.decode()


def test_a_connection_is_tested_from_its_page(
    admin_client: Client, config: LLMConfig, provider: ScriptedProvider
) -> None:
    LLMConfig.objects.filter(pk=config.pk).update(base_url=provider.url)
    url = reverse("admin:llmconfig_llmconfig_test_connection", args=[config.pk])

    page = admin_client.get(url, follow=True).content.decode()

    assert "The model answers." in page
    assert f"{provider.url}/chat/completions" in page
    assert KEY not in page
    assert provider.requests[0].headers["Authorization"] == f"Bearer {KEY}"


def test_an_auditor_tests_no_connection(
    client: Client, config: LLMConfig, provider: ScriptedProvider
) -> None:
    auditor = User.objects.create_user("auditor", is_staff=True)
    auditor.user_permissions.add(Permission.objects.get(codename="view_llmconfig"))
    LLMConfig.objects.filter(pk=config.pk).update(base_url=provider.url)
    client.force_login(auditor)
    url = reverse("admin:llmconfig_llmconfig_test_connection", args=[config.pk])

    client.get(url)

    assert provider.requests == []
