"""A run whose model fails: the next answers, and page, ledger and answer say so."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User

from chat.events.address import RunAddress
from chat.models import LLMCall, Message, Run
from chat.models.run import Status
from llmconfig.models import LLMConfig
from tests.chat.agent.conftest import Execute
from tests.chat.support import db, events_of
from tests.fakes.provider import ScriptedProvider, calls, cuts, fails, says, words

pytestmark = [pytest.mark.needs("valkey"), pytest.mark.database]


@pytest.fixture
def second() -> Iterator[ScriptedProvider]:
    with ScriptedProvider(says("From the second.")) as server:
        yield server


@pytest.fixture
def spare(second: ScriptedProvider, llm: LLMConfig) -> LLMConfig:
    """The site's other config; it comes after the default."""
    LLMConfig.objects.filter(pk=llm.pk).update(is_default=True)
    return LLMConfig.objects.create(
        name="Spare",
        base_url=second.url,
        model="spare-1",
        api_key="sk-of-the-spare-0123456789",
        input_price=1,
        output_price=1,
    )


async def chat_calls(run: Run) -> list[LLMCall]:
    rows = run.llm_calls.filter(operation="chat").order_by("started_at")
    return await db(list)(rows)


async def answer_of(run: Run) -> Message:
    return await db(run.messages.filter(role="assistant").latest)("sequence")


async def test_a_fallback_is_told_on_the_ledger_and_by_the_answer(
    started: Run, execute: Execute, provider: ScriptedProvider, spare: LLMConfig
) -> None:
    provider.script(fails(429, "slow down", {"Retry-After": "120"}))

    run = await execute(started)

    assert run.status == Status.SUCCEEDED
    failed, answered = await chat_calls(run)
    assert (failed.model, failed.status) == ("scripted-1", "failed")
    assert failed.error_code == "model_rate_limited"
    assert (answered.model, answered.status) == ("spare-1", "succeeded")
    assert (answered.input_tokens, answered.input_price) == (10, 1)
    message = await answer_of(run)
    assert message.content == "From the second."
    assert message.metadata["model"] == "spare-1"
    assert message.metadata["model_reason"] == (
        "the site's config “Spare”, since “Scripted” failed (model_rate_limited)"
    )
    assert answered.reason == message.metadata["model_reason"]
    events = await events_of(RunAddress.of(run))
    [told] = [event for event in events if event.get("status") == "fallback"]
    assert told["text"] == (
        "“Scripted”: The language model's provider accepts no more requests for now. "
        "“Spare” goes on."
    )
    usage = [event for event in events if event["type"] == "usage"]
    assert usage[-1]["model"] == "spare-1"


async def test_counters_hold_both_requests(
    started: Run, execute: Execute, provider: ScriptedProvider, spare: LLMConfig
) -> None:
    provider.script(fails(402))

    run = await execute(started)

    # The title is the third.
    assert run.llm_calls_count == 3


async def test_an_answer_that_was_begun_is_nobody_elses(
    started: Run,
    execute: Execute,
    provider: ScriptedProvider,
    second: ScriptedProvider,
    spare: LLMConfig,
) -> None:
    provider.script(cuts(after=words("Half an answer")))

    run = await execute(started)

    assert run.error_code == "model_stream_cut"
    assert second.requests == []


async def test_a_wrong_key_is_told_and_nobody_takes_over(
    started: Run,
    execute: Execute,
    provider: ScriptedProvider,
    second: ScriptedProvider,
    spare: LLMConfig,
) -> None:
    provider.script(fails(401))

    run = await execute(started)

    assert run.error_code == "model_key_refused"
    assert second.requests == []


async def test_the_offline_model_never_takes_over(
    started: Run, execute: Execute, provider: ScriptedProvider
) -> None:
    provider.script(fails(402))

    run = await execute(started)

    assert run.error_code == "model_quota"


async def test_a_model_without_functions_is_known_from_then_on(
    started: Run, execute: Execute, provider: ScriptedProvider, llm: LLMConfig
) -> None:
    provider.script(fails(400, "this model does not support tools"), says("Fine."))

    run = await execute(started)

    assert run.status == Status.SUCCEEDED
    await db(llm.refresh_from_db)()
    assert llm.supports_tools is False
    assert "tools" not in provider.requests[1].body
    assert "run_commands" in provider.requests[1].text
    message = await answer_of(run)
    assert "cannot call functions" in message.metadata["model_notes"][0]
    events = await events_of(RunAddress.of(run))
    assert "model_without_tools" in [event.get("status") for event in events]


async def test_a_model_that_can_call_functions_goes_before_one_that_cannot(
    started: Run,
    execute: Execute,
    provider: ScriptedProvider,
    second: ScriptedProvider,
    spare: LLMConfig,
    alice: User,
) -> None:
    await db(LLMConfig.objects.filter(name="Scripted").update)(supports_tools=False)
    second.script(calls(("list_templates", {})), says("Done."))

    await execute(started)

    assert provider.requests == []
    assert len(second.requests) == 2


async def test_titles_go_to_the_model_for_titles(
    started: Run,
    execute: Execute,
    provider: ScriptedProvider,
    second: ScriptedProvider,
    spare: LLMConfig,
) -> None:
    await db(LLMConfig.objects.filter(pk=spare.pk).update)(operations=["title"])

    run = await execute(started)

    assert second.title_requests
    assert provider.title_requests == []
    title = await db(run.llm_calls.get)(operation="title")
    assert title.model == "spare-1"
    assert "made for titles" in title.reason
