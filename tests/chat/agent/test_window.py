import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from chat.agent.window import as_messages, window_of
from chat.history import newest_messages, openai_message
from chat.models import ChatSession, Message, Run, ToolCall
from chat.models.run import Status
from tests.chat.support import make_run

pytestmark = pytest.mark.database


def say(run: Run, sequence: int, content: str = "", **fields: Any) -> Message:
    fields = {"role": Message.Role.ASSISTANT, **fields}
    return Message.objects.create(
        session=run.session,
        run=run,
        round=run.round,
        sequence=sequence,
        content=content,
        **fields,
    )


def call(message: Message, call_id: str, arguments: str = "{}") -> ToolCall:
    assert message.run is not None
    return ToolCall.objects.create(
        run=message.run,
        message=message,
        call_id=call_id,
        position=message.calls.count(),
        name="read_topology",
        arguments=arguments,
    )


def result(run: Run, sequence: int, call_id: str, text: str = "{}") -> Message:
    return say(
        run,
        sequence,
        text,
        role=Message.Role.TOOL,
        tool_call_id=call_id,
        name="read_topology",
    )


@pytest.fixture
def past(session: ChatSession) -> Run:
    return make_run(session, status=Status.SUCCEEDED, text="First question")


def rows(run: Run) -> list[Message]:
    return newest_messages(run.session, limit=200)


def test_a_blank_turn_is_not_sent(past: Run) -> None:
    say(past, 2)
    make_run(past.session, text="Second")

    messages = as_messages(rows(past))

    assert [message.content for message in messages] == ["First question", "Second"]


def test_a_stored_error_is_never_sent(past: Run) -> None:
    say(past, 2, "The key is refused.", metadata={"error": {"code": "x"}})
    make_run(past.session, text="Second")

    assert "refused" not in str(as_messages(rows(past)))


def test_a_call_of_an_earlier_round_without_a_result_is_left_out(past: Run) -> None:
    said = say(past, 2, "Let me check.")
    call(said, "answered")
    call(said, "dangling")
    result(past, 3, "answered")
    make_run(past.session)

    messages = as_messages(rows(past))

    assert isinstance(messages[1], AIMessage)
    assert [c["id"] for c in messages[1].tool_calls] == ["answered"]
    assert isinstance(messages[2], ToolMessage)


def test_open_calls_of_the_present_round_stay(run: Run) -> None:
    call(say(run, 2), "open")

    messages = as_messages(rows(run))

    assert isinstance(messages[-1], AIMessage)
    assert [c["id"] for c in messages[-1].tool_calls] == ["open"]


@pytest.mark.parametrize("arguments", ["", "{}", "not json", "[1]"])
def test_arguments_that_are_no_object_are_sent_as_an_empty_one(
    run: Run, arguments: str
) -> None:
    call(say(run, 2), "a", arguments)

    (message,) = [m for m in as_messages(rows(run)) if isinstance(m, AIMessage)]

    assert message.tool_calls[0]["args"] == {}


def test_a_window_has_whole_rounds_only(past: Run, settings: Any) -> None:
    settings.HISTORY_MESSAGES = 4
    call(say(past, 2), "a")
    result(past, 3, "a")
    say(past, 4, "First answer")
    run = make_run(past.session, text="Second question")

    messages = window_of(run)

    assert [message.content for message in messages] == ["Second question"]


def test_a_window_ends_with_its_run(past: Run) -> None:
    run = make_run(past.session, text="Second")
    make_run(past.session, status=Status.PENDING, text="Waits in line")

    messages = window_of(run)

    assert [message.content for message in messages] == ["First question", "Second"]
    assert all(isinstance(message, HumanMessage) for message in messages)


def test_history_is_in_openais_format(run: Run) -> None:
    said = say(run, 2, "Let me check.", finish_reason="tool_calls", reasoning="Hm.")
    call(said, "b", '{"x": 1}')
    call(said, "a", "")
    result(run, 3, "b", '{"nodes": []}')

    user, assistant, tool = map(openai_message, rows(run))

    assert (user["role"], user["content"]) == ("user", "Why can't PC1 reach PC2?")
    assert "tool_calls" not in user
    assert [c["id"] for c in assistant["tool_calls"]] == ["b", "a"]
    assert [c["type"] for c in assistant["tool_calls"]] == ["function"] * 2
    arguments = [c["function"]["arguments"] for c in assistant["tool_calls"]]
    assert [json.loads(text) for text in arguments] == [{"x": 1}, {}]
    assert assistant["metadata"]["finish_reason"] == "tool_calls"
    assert assistant["metadata"]["round"] == 1
    assert assistant["metadata"]["run_id"] == str(run.pk)
    assert (tool["role"], tool["tool_call_id"]) == ("tool", "b")
    assert tool["name"] == "read_topology"
    assert tool["content"] == '{"nodes": []}'
    assert assistant["id"] == str(said.pk)


def test_a_partial_message_says_so(run: Run) -> None:
    said = say(run, 2, "PC1 has", is_partial=True)

    assert openai_message(said)["metadata"]["is_partial"] is True
    said.is_partial = False
    assert "is_partial" not in openai_message(said)["metadata"]


def test_history_pages_back_without_a_gap(past: Run) -> None:
    for number in range(2, 8):
        say(past, number, str(number))

    newest = newest_messages(past.session, limit=3)
    older = newest_messages(past.session, limit=3, before=newest[0])

    assert [m.sequence for m in older + newest] == [2, 3, 4, 5, 6, 7]


def test_a_call_that_waits_for_a_person_is_left_open(session: ChatSession) -> None:
    # Reading a conversation repairs nothing: only the run's own
    # end closes its calls.
    run = make_run(session, status=Status.WAITING_APPROVAL)
    waiting = call(say(run, 2, "I would stop R1."), "c1")

    window_of(run)
    newest_messages(session, limit=200)

    waiting.refresh_from_db()
    assert (waiting.status, waiting.result) == (ToolCall.Status.PENDING, None)
    assert not run.messages.filter(role=Message.Role.TOOL).exists()
