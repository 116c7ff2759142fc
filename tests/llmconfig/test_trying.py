"""“Test connection”: what was called, and in words what came back."""

import logging
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from pytest_django import Settings

from llmconfig import openai_model
from llmconfig.models import LLMConfig
from tests.chat.api.conftest import bearer
from tests.fakes.provider import (
    Answer,
    ScriptedProvider,
    calls,
    cuts,
    fails,
    raw,
    says,
)

pytestmark = pytest.mark.database

KEY = "sk-test-0123456789-wxyz"
PATH = "/v3/access/users/me/llm-model-configs"
HTML = fails(200, "<!doctype html><p>secret page", {"Content-Type": "text/html"})


@pytest.fixture(autouse=True)
def _nothing_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_model, "_refused", {})


@pytest.fixture
def staff(transactional_db: None) -> Client:
    """May use what is listed: the scripted provider is of this machine."""
    return Client(headers=bearer(User.objects.create_superuser("root")))


@pytest.fixture
def client(alice: User) -> Client:
    return Client(headers=bearer(alice))


def report_of(client: Client, provider: ScriptedProvider, **changes: Any) -> Any:
    body = {"base_url": provider.url, "model": "m", "api_key": KEY, **changes}
    answer = client.post(f"{PATH}/test", body, content_type="application/json")
    assert answer.status_code == 200, answer.content
    assert KEY not in answer.content.decode()
    return answer.json()


def test_a_model_that_works_is_told_with_all_it_can(
    staff: Client, provider: ScriptedProvider
) -> None:
    provider.script(says("I am ready", usage=(7, 3)), calls(("ready", {})))

    report = report_of(staff, provider)

    assert report["ok"]
    assert report["address"] == f"{provider.url}/chat/completions"
    assert (report["status"], report["streaming"]) == (200, True)
    assert report["usage"] == {"input_tokens": 7, "output_tokens": 3}
    assert report["tool_calls"] is True
    assert report["text"] == "I am ready"
    assert report["message"] == "The model answers."
    assert report["elapsed_ms"] >= report["first_token_ms"] >= 0
    assert provider.requests[0].headers["Authorization"] == f"Bearer {KEY}"


def test_a_model_without_functions_is_told_as_such(
    staff: Client, provider: ScriptedProvider
) -> None:
    provider.script(says("ready"), fails(400, "does not support tools"))

    report = report_of(staff, provider)

    assert (report["ok"], report["tool_calls"]) == (True, False)


def test_a_model_that_does_not_call_leaves_it_open(
    staff: Client, provider: ScriptedProvider
) -> None:
    assert report_of(staff, provider)["tool_calls"] is None


WRONG = [
    (fails(401, f"bad key {KEY}"), {}, "refuses the API key", 401),
    (fails(401), {"api_key": ""}, "wants an API key", 401),
    (fails(404), {}, "There is nothing at", 404),
    (fails(429, "", {"Retry-After": "60"}), {}, "no more requests", 429),
    (fails(402), {}, "nothing left to spend", 402),
    (fails(500, "secret trace"), {}, "an error of its own (500)", 500),
    (fails(302, "", {"Location": "http://169.254.169.254"}), {}, "not followed", 302),
    (HTML, {}, "A web page came back", 200),
    (fails(200, {"secret": 1}), {}, "not as a language model does", 200),
    (raw([b"secret"]), {}, "broke off", 200),
    (cuts(after=["Hal"]), {}, "broke off", 200),
]


@pytest.mark.parametrize(("answer", "changes", "words", "status"), WRONG)
def test_what_is_wrong_is_told_in_words_and_no_body_is_shown(
    staff: Client,
    provider: ScriptedProvider,
    answer: Answer,
    changes: dict[str, str],
    words: str,
    status: int,
) -> None:
    provider.script(answer)

    report = report_of(staff, provider, **changes)

    assert not report["ok"]
    assert words in report["message"]
    assert report["status"] == status
    assert "secret" not in str(report)
    assert "169.254" not in str(report)


@pytest.mark.parametrize("answer", [fails(404), HTML], ids=["404", "page"])
def test_a_missing_v1_is_suggested(
    staff: Client, provider: ScriptedProvider, answer: Answer
) -> None:
    provider.script(answer)
    base = provider.url.removesuffix("/v1")

    report = report_of(staff, provider, base_url=f" {base}/ ")

    assert report["hint"] == f"Most base URLs end in /v1: try {base}/v1."


def test_a_server_that_is_down_is_told_by_its_place(
    staff: Client, provider: ScriptedProvider
) -> None:
    report = report_of(staff, provider, base_url="http://127.0.0.1:9/v1")

    assert report["message"] == "Nothing answers at 127.0.0.1:9."
    assert report["status"] is None


def test_an_address_inside_is_told_and_not_called(
    client: Client, provider: ScriptedProvider
) -> None:
    report = report_of(client, provider)

    assert "is not a public address" in report["message"]
    assert provider.requests == []


def stored(provider: ScriptedProvider, **fields: Any) -> LLMConfig:
    return LLMConfig.objects.create(
        name="Stored", base_url=provider.url, model="kept", api_key=KEY, **fields
    )


def test_a_stored_config_is_tried_with_its_key(
    client: Client, alice: User, provider: ScriptedProvider
) -> None:
    config = stored(provider, user=alice, made_by_staff=True)

    report = report_of(
        client, provider, config_id=str(config.pk), base_url="", model="", api_key=""
    )

    assert report["ok"]
    assert provider.requests[0].body["model"] == "kept"
    assert provider.requests[0].headers["Authorization"] == f"Bearer {KEY}"


def test_a_stored_key_is_not_sent_to_another_server(
    staff: Client, alice: User, provider: ScriptedProvider
) -> None:
    config = stored(provider, user=alice)
    path = f"/v3/access/users/{alice.pk}/llm-model-configs/test"
    body = {"config_id": str(config.pk), "base_url": "http://127.0.0.1:9/v1"}

    answer = staff.post(path, body, content_type="application/json")

    assert answer.status_code == 403
    assert "another server" in answer.json()["message"]


def test_an_inherited_config_is_tried_as_it_is_and_nowhere_else(
    client: Client, alice: User, provider: ScriptedProvider
) -> None:
    group = Group.objects.create(name="students")
    alice.groups.add(group)
    config = stored(provider, group=group)

    report = report_of(
        client,
        provider,
        config_id=str(config.pk),
        base_url="https://evil.example/v1",
        model="other",
        api_key="",
    )

    assert report["address"].startswith(provider.url)
    assert provider.requests[0].body["model"] == "kept"


def test_what_one_does_not_inherit_cannot_be_tried(
    client: Client, bob: User, provider: ScriptedProvider
) -> None:
    config = stored(provider, user=bob)
    body = {"config_id": str(config.pk)}

    answer = client.post(f"{PATH}/test", body, content_type="application/json")

    assert answer.status_code == 404
    assert provider.requests == []


def test_a_key_that_cannot_be_read_says_so(
    client: Client, alice: User, provider: ScriptedProvider, settings: Settings
) -> None:
    config = stored(provider, user=alice)
    settings.ENCRYPTION_KEYS = ["another-key-that-opens-nothing-old-at-all"]
    body = {"config_id": str(config.pk)}

    answer = client.post(f"{PATH}/test", body, content_type="application/json")

    assert answer.json()["code"] == "model_key_unreadable"


def test_the_key_is_in_no_log(
    staff: Client, provider: ScriptedProvider, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    report_of(staff, provider)

    assert KEY not in caplog.text


# --- Models ---------------------------------------------------------------------


def listed(client: Client, provider: ScriptedProvider) -> Any:
    body = {"base_url": provider.url, "api_key": KEY}
    return client.post(f"{PATH}/models", body, content_type="application/json")


@pytest.mark.parametrize(
    "body",
    [
        {"object": "list", "data": [{"id": "b/c:free"}, {"id": "a"}, {"id": 5}, {}]},
        {"models": [{"name": "a"}, {"name": "b/c:free"}]},
        '["a", "b/c:free", ""]',
    ],
)
def test_the_providers_models_are_listed(
    staff: Client, provider: ScriptedProvider, body: Any
) -> None:
    provider.script(fails(200, body))

    assert listed(staff, provider).json() == {"models": ["a", "b/c:free"]}
    assert provider.requests[0].path == "/v1/models"
    assert provider.requests[0].headers["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (fails(401), "model_key_refused"),
        (fails(404), "model_not_found"),
        (fails(500), "model_unreachable"),
        (fails(302, "", {"Location": "http://x"}), "model_redirected"),
        (HTML, "model_bad_answer"),
        (fails(200, {"data": 5}), "model_bad_answer"),
        (fails(200, "x" * 3_000_000), "model_bad_answer"),
    ],
)
def test_a_list_that_does_not_come_is_told(
    staff: Client, provider: ScriptedProvider, answer: Answer, code: str
) -> None:
    provider.script(answer)

    response = listed(staff, provider)

    assert response.status_code == 502
    assert response.json()["code"] == code
    assert "secret" not in response.content.decode()


def test_models_inside_are_not_listed_for_a_user(
    client: Client, provider: ScriptedProvider
) -> None:
    assert listed(client, provider).json()["code"] == "address_refused"
    assert provider.requests == []
