"""Stop keeps what was said and what it cost; the conversation goes on."""

import asyncio
import json

import pytest

from tests.fakes.provider import ScriptedProvider, says, stalls
from tests.faults.saying import counts_to, numbered, slow_change, slow_read
from tests.stack import Stack, eventually
from tests.stack_client import (
    TRANSPORTS,
    Transport,
    ask,
    follow,
    is_type,
    stored_texts,
    texts,
    words,
)

pytestmark = [pytest.mark.faults, pytest.mark.needs("valkey", "celery")]


def roles(messages: list[dict[str, object]]) -> list[object]:
    return [message["role"] for message in messages if message["role"] != "system"]


@pytest.mark.database
@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
async def test_stop_in_mid_answer_keeps_the_text_and_the_next_message_works(
    stack: Stack, model: ScriptedProvider, transport: Transport
) -> None:
    model.script(counts_to(500))
    started = stack.post("Count.")
    session = started["session_id"]
    following = asyncio.create_task(follow(stack, session, transport=transport))
    await follow(stack, session, until=words(40))

    stack.call("POST", f"/sessions/{session}/stop").raise_for_status()
    events = await following

    assert [event["type"] for event in events[-2:]] == ["stopped", "done"]
    assert events[-1]["status"] == "stopped"
    kept = stored_texts(stack.history(session))
    assert kept == texts(events)
    (text,) = kept.values()
    assert numbered(500).startswith(text)
    assert "w30" in text
    assert "w450" not in text
    await asyncio.to_thread(
        eventually, lambda: model.open_count == 0, "the model is no longer asked"
    )

    model.script(says("Yes."))
    answer = await ask(stack, "Are you there?", session_id=session)

    assert answer[-1]["status"] == "succeeded"
    assert roles(model.requests[-1].messages) == ["user", "assistant", "user"]
    assert text in model.requests[-1].text


async def test_tokens_that_a_stopped_model_has_told_are_kept(
    stack: Stack, model: ScriptedProvider
) -> None:
    usage = {"prompt_tokens": 120, "completion_tokens": 7, "total_tokens": 127}
    chunk = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "scripted",
        "choices": [{"index": 0, "delta": {"content": "So far."}}],
        "usage": usage,
    }
    model.script(stalls(after=[b"data: %s\n\n" % json.dumps(chunk).encode()]))
    started = stack.post("Tell me.")
    session = started["session_id"]
    await follow(stack, session, until=words(1))

    stack.call("POST", f"/sessions/{session}/stop").raise_for_status()
    events = await follow(stack, session)

    assert events[-1]["status"] == "stopped"
    (call,) = stack.rows(
        "SELECT c.status, c.input_tokens, c.output_tokens FROM chat_llmcall c"
        " JOIN chat_run r ON r.id = c.run_id"
        " JOIN chat_chatsession s ON s.id = r.session_id"
        f" WHERE operation = 'chat' AND s.thread_id = '{session}'"
    )
    assert call == ("stopped", 120, 7)


@pytest.mark.database
async def test_stop_before_the_first_token_leaves_no_blank_turn(
    stack: Stack, model: ScriptedProvider
) -> None:
    model.script(stalls())
    session = stack.post("Think.")["session_id"]
    await asyncio.to_thread(
        eventually, lambda: model.requests != [], "the model is asked", seconds=60
    )

    stack.call("POST", f"/sessions/{session}/stop").raise_for_status()
    events = await follow(stack, session)

    assert [event["type"] for event in events[-2:]] == ["stopped", "done"]
    assert roles(stack.history(session)) == ["user"]
    model.script(says("Yes."))
    await ask(stack, "Go on.", session_id=session)
    sent = model.requests[-1].messages
    assert all(message.get("content") for message in sent)
    assert "assistant" not in roles(sent)


@pytest.mark.database
@pytest.mark.parametrize("answer", [slow_read, slow_change])
async def test_stop_during_a_tool_closes_its_call(
    stack: Stack, model: ScriptedProvider, answer: object
) -> None:
    assert callable(answer)
    model.script(answer(), says("Done."))
    session = stack.post("Ping.")["session_id"]
    if answer is slow_change:
        await asyncio.to_thread(stack.approve, session)
    await follow(stack, session, until=is_type("tool_start"))

    stack.call("POST", f"/sessions/{session}/stop").raise_for_status()
    events = await follow(stack, session)

    assert events[-1]["status"] == "stopped"
    history = stack.history(session)
    assert roles(history) == ["user", "assistant", "tool"]
    assert "ancelled" in history[-1]["content"]
    model.script(says("Yes."))
    after = await ask(stack, "Go on.", session_id=session)
    assert after[-1]["status"] == "succeeded"


async def test_a_queued_run_is_stopped_without_any_worker(
    stack: Stack, model: ScriptedProvider
) -> None:
    stack.kill("worker")
    started = stack.post("Nobody hears this.")
    session = started["session_id"]
    following = asyncio.create_task(follow(stack, session))

    stopped = stack.call("POST", f"/sessions/{session}/stop").raise_for_status().json()
    events = await following

    assert stopped == {"stopped": True}
    assert [event["type"] for event in events[-2:]] == ["stopped", "done"]
    stack.start_again("worker")
    stack.wait_until_healthy()
    model.script(says("Now I do."))
    answer = await ask(stack, "And this?", session_id=session)
    assert list(texts(answer).values()) == ["Now I do."]
    assert len(model.requests) == 1
