"""LangChain ↔ OpenAI: nothing is lost, and no text is encoded twice."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from chat.converters import (
    ConversionError,
    langchain_from_openai,
    langchain_messages,
    openai_from_langchain,
    openai_messages,
    openai_tool_call,
)

text = st.text(max_size=40)
ids = st.text(min_size=1, max_size=20)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
arguments = st.dictionaries(st.text(max_size=8), json_values, max_size=3)
calls = st.lists(
    st.builds(
        lambda name, args, id: {
            "name": name,
            "args": args,
            "id": id,
            "type": "tool_call",
        },
        text,
        arguments,
        ids,
    ),
    max_size=4,
)
broken_calls = st.lists(
    st.builds(
        lambda name, id: {
            "name": name,
            "args": '{"devices": [',
            "id": id,
            "error": None,
            "type": "invalid_tool_call",
        },
        text,
        ids,
    ),
    max_size=2,
)
langchain = st.one_of(
    st.builds(HumanMessage, content=text, id=ids),
    st.builds(SystemMessage, content=text, id=ids),
    st.builds(
        AIMessage,
        content=text,
        id=ids,
        tool_calls=calls,
        invalid_tool_calls=broken_calls,
    ),
    st.builds(ToolMessage, content=text, id=ids, tool_call_id=ids, name=ids),
)
written_arguments = st.one_of(
    arguments.map(json.dumps),
    arguments.map(lambda value: json.dumps(value, indent=2)),
    st.sampled_from(
        ['{"a": 1.0e2}', '{"a":1,"a":2}', "{", "[1]", "null", '{"a": NaN}']
    ),
    st.text(min_size=1, max_size=12),
)
openai = st.one_of(
    st.fixed_dictionaries(
        {
            "id": ids,
            "role": st.sampled_from(["user", "system"]),
            "content": text,
            "created_at": st.just("2026-01-01T00:00:00+00:00"),
        },
        optional={"name": ids, "metadata": st.just({"round": 1})},
    ),
    st.fixed_dictionaries(
        {
            "id": ids,
            "role": st.just("tool"),
            "content": text,
            "created_at": st.just("2026-01-01T00:00:00+00:00"),
            "name": ids,
            "tool_call_id": ids,
        }
    ),
    st.fixed_dictionaries(
        {
            "id": ids,
            "role": st.just("assistant"),
            "content": text,
            "created_at": st.just("2026-01-01T00:00:00+00:00"),
        },
        optional={
            "tool_calls": st.lists(
                st.builds(openai_tool_call, ids, text, written_arguments),
                min_size=1,
                max_size=4,
            )
        },
    ),
)


@settings(max_examples=150, deadline=None)
@given(message=langchain)
def test_langchain_to_openai_and_back_changes_nothing(message: BaseMessage) -> None:
    back = langchain_from_openai(openai_from_langchain(message))

    assert type(back) is type(message)
    assert back.model_dump(exclude={"additional_kwargs"}) == message.model_dump(
        exclude={"additional_kwargs"}
    )


@settings(max_examples=200, deadline=None)
@given(turn=openai)
def test_openai_to_langchain_and_back_changes_nothing(turn: dict[str, Any]) -> None:
    assert openai_from_langchain(langchain_from_openai(turn)) == turn


@settings(max_examples=50, deadline=None)
@given(content=st.lists(arguments, max_size=3) | st.just("") | text)
def test_lists_become_json_text_and_text_stays(content: Any) -> None:
    turn = openai_from_langchain(HumanMessage(content=content, id="a"))

    if isinstance(content, str):
        assert turn["content"] == content
    else:
        assert json.loads(turn["content"]) == content


def test_a_dict_of_a_turn_becomes_json_text() -> None:
    message = langchain_from_openai({"role": "user", "content": {"ü": [1]}, "id": "a"})

    assert message.content == '{"ü": [1]}'


def test_calls_keep_ids_names_and_order() -> None:
    call = {"name": "ping", "args": {"to": "R1"}, "id": "c1", "type": "tool_call"}

    turn = openai_from_langchain(AIMessage("", tool_calls=[call], id="a"))

    assert turn["tool_calls"] == [
        {
            "id": "c1",
            "type": "function",
            "function": {"name": "ping", "arguments": '{"to": "R1"}'},
        }
    ]


def test_arguments_that_are_text_are_not_encoded_twice() -> None:
    assert openai_tool_call("c", "f", '{"a":1}')["function"]["arguments"] == '{"a":1}'
    assert openai_tool_call("c", "f", {"a": 1})["function"]["arguments"] == '{"a": 1}'
    assert openai_tool_call("c", "f", "")["function"]["arguments"] == "{}"
    assert openai_tool_call("c", "f", None)["function"]["arguments"] == "{}"


@pytest.mark.parametrize("written", ['{"a": [', "[1]", "null", '"{}"', '{"a": NaN}'])
def test_arguments_that_are_no_object_are_never_ready_to_run(written: str) -> None:
    call = openai_tool_call("c", "f", written)
    turn = {"id": "a", "role": "assistant", "content": "", "tool_calls": [call]}

    message = langchain_from_openai(turn)

    assert isinstance(message, AIMessage)
    assert message.tool_calls == []
    assert message.invalid_tool_calls[0]["args"] == written


def test_a_dict_as_arguments_is_taken_too() -> None:
    call = {"id": "c", "function": {"name": "f", "arguments": {"a": 1}}}

    message = langchain_from_openai(
        {"id": "a", "role": "assistant", "content": None, "tool_calls": [call]}
    )

    assert isinstance(message, AIMessage)
    assert message.content == ""
    assert message.tool_calls[0]["args"] == {"a": 1}


def test_messages_without_ids_get_the_same_at_every_reading() -> None:
    said: list[BaseMessage] = [HumanMessage("hi"), AIMessage("yes"), HumanMessage("hi")]

    first = [turn["id"] for turn in openai_messages(said)]
    second = [turn["id"] for turn in openai_messages(said)]

    assert first == second
    assert len(set(first)) == 3
    turns = [{"role": "user", "content": "hi"}] * 2
    assert len({message.id for message in langchain_messages(turns)}) == 2
    assert [m.id for m in langchain_messages(turns)] == [
        m.id for m in langchain_messages(turns)
    ]


def test_calls_without_ids_get_stable_ones_too() -> None:
    call = {"name": "f", "args": {}, "id": None, "type": "tool_call"}
    message = AIMessage("", tool_calls=[call, call], id="a")

    once, twice = (openai_from_langchain(message)["tool_calls"] for _ in range(2))

    assert once == twice
    assert once[0]["id"] != once[1]["id"]


@pytest.mark.parametrize("role", ["owner", "", None, 3, ["user"]])
def test_an_unknown_role_is_refused(role: Any) -> None:
    with pytest.raises(ConversionError, match="Unknown role"):
        langchain_from_openai({"role": role, "content": "x"})


def test_roles_of_other_spellings_are_known() -> None:
    developer = langchain_from_openai({"role": "developer", "content": "x"})

    assert isinstance(developer, SystemMessage)
    assert openai_from_langchain(ChatMessage("x", role="human"))["role"] == "user"
    with pytest.raises(ConversionError):
        openai_from_langchain(ChatMessage("x", role="narrator"))
    with pytest.raises(ConversionError):
        openai_from_langchain(RemoveMessage(id="a"))


def test_a_tool_result_without_its_link_is_refused() -> None:
    with pytest.raises(ConversionError, match="tool_call_id"):
        langchain_from_openai({"role": "tool", "content": "x"})
