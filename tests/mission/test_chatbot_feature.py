"""What the chatbot's specification asks for and no other test shows."""

import asyncio
import threading
import time
from datetime import datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import Count, Prefetch
from django.test import Client
from django.utils import timezone
from django.utils.translation import get_language
from pytest_django import Settings

from accounts.language import choose_language, language_of
from chat.agent.checkpoints import Checkpoints
from chat.agent.prompts import title_prompt
from chat.agent.runner import Execution
from chat.api.serializers import ChatSessionSerializer
from chat.events.address import RunAddress
from chat.history import newest_messages, openai_message
from chat.models import ChatSession, Message, Run
from chat.models.run import Status
from chat.profiles.loading import load, shipped_files
from chat.runs import start_run
from llmconfig.models import LLMConfig
from projects.models import Project
from tests.chat.agent.conftest import Execute
from tests.chat.support import (
    DEADLINE,
    claimed,
    db,
    events_of,
    kinds,
    make_run,
    make_session,
    make_worker,
)
from tests.conftest import Valkey
from tests.fakes.provider import ScriptedProvider, calls, fails, says, stalls

# --- Workflows and rounds --------------------------------------------------------


@pytest.fixture
def ready(valkey: Valkey, llm: LLMConfig) -> None:
    """A model, and a log that events can be written to."""


async def log_of(run: Run) -> list[dict[str, Any]]:
    return await events_of(RunAddress.of(run))


async def until_told(run: Run, kind: str, times: int = 1) -> int:
    """How many events of the kind there are by then."""
    deadline = time.monotonic() + DEADLINE
    while True:
        found = kinds(await log_of(run)).count(kind)
        if found >= times:
            return found
        assert time.monotonic() < deadline, f"never: {times} times {kind}"
        await asyncio.sleep(0.01)


@db
def next_run(session: ChatSession, text: str = "Why?") -> Run:
    return claimed(make_run(session, text=text), make_worker(text))


@db
def history(session: ChatSession) -> list[dict[str, Any]]:
    return [openai_message(one) for one in newest_messages(session, limit=200)]


@pytest.mark.django_db
def test_a_conversation_begins_with_round_1_and_each_message_adds_one(
    alice: User, lab: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chat.runs.publish", lambda run: True)

    def ask(session_id: str | None = None) -> Run:
        run = start_run(
            user=alice, project=lab, message="Why?", session_id=session_id
        ).run
        Run.objects.filter(pk=run.pk).update(status=Status.SUCCEEDED)
        return run

    first = ask()
    other = ask()
    again = ask(first.session.thread_id)

    assert (first.round, other.round, again.round) == (1, 1, 2)
    assert first.session_id == again.session_id != other.session_id


async def test_the_question_is_stored_and_then_told(
    session: ChatSession, ready: None, execute: Execute, provider: ScriptedProvider
) -> None:
    provider.script(says("The mask is wrong."))
    run = await next_run(session, "What is wrong?")

    await execute(run)

    told = next(one for one in await log_of(run) if one["type"] == "message")
    stored = await Message.objects.aget(pk=told["message"]["id"])
    assert (stored.role, stored.content) == ("user", "What is wrong?")


async def test_the_final_answer_is_stored_and_told_as_a_message(
    session: ChatSession, ready: None, execute: Execute, provider: ScriptedProvider
) -> None:
    provider.script(says("The mask is wrong."))
    run = await next_run(session)

    await execute(run)

    told = [one for one in await log_of(run) if one["type"] == "message"][-1]
    stored = await Message.objects.aget(pk=told["message"]["id"])
    assert (stored.role, stored.content) == ("assistant", "The mask is wrong.")


async def test_a_failure_is_stored_as_a_message_and_told_as_an_error(
    session: ChatSession, ready: None, execute: Execute, provider: ScriptedProvider
) -> None:
    provider.script(fails(401, {"error": {"message": "no"}}))
    run = await next_run(session)

    run = await execute(run)

    assert run.status == Status.FAILED
    last = (await history(session))[-1]
    assert (last["role"], last["content"]) == ("assistant", run.error)
    assert last["metadata"]["error"]
    assert kinds(await log_of(run))[-2:] == ["error", "done"]


async def test_a_stop_stores_no_error_and_tells_none(
    session: ChatSession,
    ready: None,
    execute: Execute,
    checkpoints: Checkpoints,
    provider: ScriptedProvider,
) -> None:
    provider.script(stalls(after=["Half"]))
    run = await next_run(session)
    execution = Execution(run, checkpoints)
    running = asyncio.create_task(execution.execute())
    await until_told(run, "content")

    execution.stop("user")
    await running

    seen = kinds(await log_of(run))
    assert "error" not in seen
    assert seen[-2:] == ["stopped", "done"]
    assert not any("error" in one.get("metadata", {}) for one in await history(session))
    provider.script(says("Whole."))
    assert (await execute(await next_run(session))).status == Status.SUCCEEDED


async def test_after_many_rounds_nothing_is_stored_twice_and_the_model_sees_all(
    session: ChatSession, ready: None, execute: Execute, provider: ScriptedProvider
) -> None:
    rounds = 12
    provider.script(says("Noted."))
    for number in range(rounds):
        await execute(await next_run(session, f"Fact {number}"))

    sent = [one["content"] for one in provider.requests[-1].messages]
    assert [text for text in sent if text.startswith("Fact")] == [
        f"Fact {number}" for number in range(rounds)
    ]
    assert sent.count("Noted.") == rounds - 1
    stored = session.messages.values("round", "role").annotate(times=Count("pk"))
    assert {row["times"] async for row in stored} == {1}
    assert await stored.acount() == 2 * rounds


async def test_a_run_that_fails_leaves_those_beside_it_alone(
    alice: User, lab: Project, ready: None, execute: Execute, provider: ScriptedProvider
) -> None:
    provider.script(
        fails(401, {"error": {"message": "no"}}), says("Fine."), says("Fine.")
    )
    runs = [
        await next_run(await db(make_session)(alice, lab), f"Question {number}")
        for number in range(3)
    ]

    ended = await asyncio.gather(*map(execute, runs))

    assert sorted(run.status for run in ended) == ["failed", "succeeded", "succeeded"]


async def test_a_database_that_is_slow_to_save_does_not_hold_up_what_is_said(
    session: ChatSession,
    ready: None,
    execute: Execute,
    provider: ScriptedProvider,
) -> None:
    words = [f"word{number} " for number in range(40)]
    provider.script(says("".join(words), pace=0.02))
    run = await next_run(session)
    running = asyncio.create_task(execute(run))
    freed = threading.Event()

    said = await until_told(run, "content")
    saving = asyncio.create_task(db(freed.wait)())
    await until_told(run, "content", said + 3)
    is_saving = not saving.done()
    freed.set()

    assert (await running).status == Status.SUCCEEDED
    assert is_saving


# --- Messages and their workflow -------------------------------------------------


async def test_every_message_is_stored_with_its_round_its_place_and_its_time(
    session: ChatSession, ready: None, execute: Execute, provider: ScriptedProvider
) -> None:
    provider.script(calls(("nope", {})), says("The mask is wrong."))
    for text in ("What is wrong?", "And now?"):
        await execute(await next_run(session, text))
        provider.script(says("Still."))

    rows = [row async for row in session.messages.order_by("round", "sequence")]

    assert [(row.round, row.sequence, row.role) for row in rows] == [
        (1, 1, "user"),
        (1, 2, "assistant"),
        (1, 3, "tool"),
        (1, 4, "assistant"),
        (2, 1, "user"),
        (2, 2, "assistant"),
    ]
    assert all(row.session_id == session.pk for row in rows)
    moments = [row.created_at for row in rows]
    assert moments == sorted(moments)


async def test_what_is_stored_becomes_what_the_model_reads_and_the_other_way_round(
    session: ChatSession, ready: None, execute: Execute, provider: ScriptedProvider
) -> None:
    provider.script(calls(("nope", {"x": "ü"}), ids=["a"]), says("Done: ü **ok**"))
    await execute(await next_run(session, "Do it: 网络"))
    shown = await history(session)
    provider.script(says("ok"))

    await execute(await next_run(session, "Again"))

    sent = provider.requests[-1].messages[1:-1]
    for message, stored in zip(sent, shown, strict=True):
        assert message["role"] == stored["role"]
        assert (message.get("content") or "") == stored["content"]
        assert message.get("tool_call_id") == stored.get("tool_call_id")
        assert message.get("tool_calls") == stored.get("tool_calls")


async def test_a_conversation_goes_on_after_a_restart(
    session: ChatSession, ready: None, execute: Execute, provider: ScriptedProvider
) -> None:
    provider.script(says("PC1 is 10.0.0.1."))
    await execute(await next_run(session, "Where is PC1?"))
    # Another process: no store, no memory of the first.
    fresh = Checkpoints()
    run = await next_run(session, "And PC2?")

    await Execution(run, fresh).execute()
    await fresh.close()

    texts = [message["content"] for message in provider.requests[-1].messages[1:]]
    assert texts == ["Where is PC1?", "PC1 is 10.0.0.1.", "And PC2?"]


async def test_status_round_and_last_activity_are_right_at_any_moment(
    session: ChatSession,
    ready: None,
    checkpoints: Checkpoints,
    provider: ScriptedProvider,
) -> None:
    provider.script(stalls(after=["Half"]))
    run = await next_run(session)
    execution = Execution(run, checkpoints)
    running = asyncio.create_task(execution.execute())
    await until_told(run, "content")

    @db
    def state() -> dict[str, Any]:
        rows = ChatSession.objects.prefetch_related(
            Prefetch("runs", Run.objects.active(), to_attr="active_runs")
        )
        found: dict[str, Any] = ChatSessionSerializer(rows.get(pk=session.pk)).data
        return found

    during = (await state())["active_run"]
    before = timezone.now()
    execution.stop("user")
    await running
    after = await state()

    assert (during["status"], during["round"]) == ("running", 1)
    assert after["active_run"] is None
    assert datetime.fromisoformat(after["updated_at"]) >= before


# --- Languages -------------------------------------------------------------------


@db
def speaking(user: User, language: str) -> None:
    choose_language(user, language)


async def test_runs_at_once_fail_each_in_the_language_of_its_person(
    alice: User,
    bob: User,
    lab: Project,
    ready: None,
    execute: Execute,
    provider: ScriptedProvider,
) -> None:
    await speaking(alice, "de")
    await speaking(bob, "zh-hans")
    provider.script(fails(401, {"error": {"message": "no"}}))
    runs = [
        await next_run(await db(make_session)(person, lab))
        for person in (alice, bob, alice)
    ]

    first, second, third = await asyncio.gather(*map(execute, runs))

    assert first.error == third.error
    assert first.error.startswith("Der Anbieter des Sprachmodells lehnt")
    assert second.error.startswith("语言模型提供商拒绝了")
    assert {run.error_code for run in (first, second, third)} == {"model_key_refused"}
    assert get_language() == "en"


async def test_what_a_model_reads_stays_english_whatever_the_person_chose(
    alice: User, lab: Project, ready: None, execute: Execute, provider: ScriptedProvider
) -> None:
    await speaking(alice, "de")
    provider.script(calls(("run_commands", {"devices": 1})), says("Gut."))
    run = await next_run(await db(make_session)(alice, lab))

    await execute(run)

    (told,) = [one for one in provider.requests[-1].messages if one["role"] == "tool"]
    assert "arguments" in told["content"]


@pytest.mark.django_db
def test_a_language_is_added_by_setting(
    alice: User, client: Client, settings: Settings
) -> None:
    settings.LANGUAGES = [*settings.LANGUAGES, ("fr", "Français")]
    client.force_login(alice)

    client.patch(
        "/v3/me/preferences", {"language": "fr"}, content_type="application/json"
    )

    assert '<html lang="fr"' in client.get("/").text
    assert client.get("/texts/fr.js").status_code == 200
    assert "in French" in title_prompt(language_of(alice))


@pytest.mark.django_db
def test_greeting_and_questions_come_in_the_language_a_person_chose(
    alice: User, client: Client
) -> None:
    load(shipped_files())
    client.force_login(alice)

    def texts(language: str) -> tuple[str, ...]:
        body = {"language": language}
        client.patch("/v3/me/preferences", body, content_type="application/json")
        shown = client.get("/v3/profiles").json()[0]
        return shown["title"], shown["greeting"], *shown["questions"]

    english, german, chinese = texts("en"), texts("de"), texts("zh-hans")

    assert all(len({*each}) == 3 for each in zip(english, german, chinese, strict=True))
