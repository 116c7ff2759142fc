"""Pictures of a conversation: models that see get them, others are told of them."""

import base64
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django.fixtures import Settings

from chat.documents import images, wake
from chat.documents.attachments import attach, link
from chat.models import ChatSession, Run
from chat.models.run import Status
from llmconfig.models import LLMConfig
from tests.chat.agent.conftest import Execute
from tests.chat.documents.samples import PNG
from tests.chat.support import claimed, db, make_run
from tests.fakes.provider import ScriptedProvider, fails, says

pytestmark = [pytest.mark.needs("valkey"), pytest.mark.database]


@pytest.fixture(autouse=True)
def data_dir(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(wake, "_submit", lambda task: None)


@pytest.fixture
def seeing(llm: LLMConfig) -> LLMConfig:
    LLMConfig.objects.filter(pk=llm.pk).update(supports_vision=True)
    return llm


async def show(run: Run, user: User, *names: str) -> None:
    def fill() -> None:
        for name in names:
            attach(run.session, name, PNG + name.encode(), user=user)
        link(run.messages.get(role="user"), None)

    await db(fill)()


def questions(provider: ScriptedProvider) -> list[Any]:
    messages = provider.requests[-1].messages
    return [one["content"] for one in messages if one["role"] == "user"]


def url_of(name: str) -> str:
    data = base64.b64encode(PNG + name.encode()).decode()
    return f"data:image/png;base64,{data}"


async def test_a_model_that_sees_gets_the_picture_and_the_row_stays_text(
    started: Run,
    execute: Execute,
    provider: ScriptedProvider,
    seeing: LLMConfig,
    alice: User,
) -> None:
    await show(started, alice, "rack.png")
    provider.script(says("A rack."))

    run = await execute(started)

    assert run.status == Status.SUCCEEDED
    [content] = questions(provider)
    text, picture = content
    assert text["text"].endswith("[Attached: rack.png (png)]")
    assert picture == {"type": "image_url", "image_url": {"url": url_of("rack.png")}}
    question = await db(run.messages.get)(role="user")
    assert question.content == "Why can't PC1 reach PC2?"


@pytest.mark.parametrize("vision", [None, False])
async def test_a_model_that_does_not_see_is_told_that_there_is_a_picture(
    started: Run,
    execute: Execute,
    provider: ScriptedProvider,
    llm: LLMConfig,
    alice: User,
    vision: bool | None,
) -> None:
    await db(LLMConfig.objects.filter(pk=llm.pk).update)(supports_vision=vision)
    await show(started, alice, "rack.png")
    provider.script(says("I can't see it."))

    await execute(started)

    [content] = questions(provider)
    assert content.endswith("[Pictures that you can't see: rack.png]")
    assert "base64" not in provider.requests[-1].text


async def test_only_the_newest_four_are_shown_and_none_that_is_too_large(
    started: Run,
    execute: Execute,
    provider: ScriptedProvider,
    seeing: LLMConfig,
    session: ChatSession,
    alice: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(images, "BYTES", len(PNG) + 6)
    provider.script(says("Seen."))
    await show(started, alice, "a1.png", "a2.png", "a3.png")
    await execute(started)
    second = await db(lambda: claimed(make_run(session), started.worker))()
    await show(second, alice, "b1.png", "b2.png", "b3large.png")

    await execute(second)

    earlier, newest = questions(provider)
    shown = [
        part["image_url"]["url"]
        for part in (*earlier, *newest)
        if part["type"] == "image_url"
    ]
    assert shown == [url_of(name) for name in ("a3.png", "b1.png", "b2.png")]
    assert earlier[0]["text"].endswith("[Pictures that you can't see: a1.png, a2.png]")
    assert newest[0]["text"].endswith("[Pictures that you can't see: b3large.png]")


async def test_a_fallback_that_does_not_see_is_told_instead(
    started: Run,
    execute: Execute,
    provider: ScriptedProvider,
    seeing: LLMConfig,
    alice: User,
) -> None:
    def spare() -> None:
        LLMConfig.objects.filter(pk=seeing.pk).update(is_default=True)
        LLMConfig.objects.create(name="Spare", base_url=provider.url, model="spare-1")

    await db(spare)()
    await show(started, alice, "rack.png")
    provider.script(fails(429, "slow down", {"Retry-After": "120"}), says("Blind."))

    run = await execute(started)

    assert run.status == Status.SUCCEEDED
    [content] = questions(provider)
    assert content.endswith("[Pictures that you can't see: rack.png]")
