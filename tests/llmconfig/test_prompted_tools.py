"""Calls are read from text in one mode, from one block, and only if all is right."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from chat.agent.translate import Assembler
from llmconfig.prompted_tools import (
    CallReader,
    as_text,
    ask_prompted,
    described,
    fence_of,
    strictly_read,
)
from tests.fakes.models import ScriptedModel, text

NONCE = "0123456789abcdef"
FENCE = fence_of(NONCE)
NAMES = frozenset({"ping", "read_topology"})
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "ping",
            "description": "Pings.",
            "parameters": {"type": "object"},
        },
    }
]


def call(name: str = "ping", **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def block(*calls: Any, nonce: str = NONCE) -> str:
    return f"{fence_of(nonce)}\n{json.dumps(list(calls))}\n```"


def read(*pieces: str) -> tuple[str, list[tuple[str, Any]]]:
    reader = CallReader(NONCE, NAMES)
    told = "".join(map(reader.feed, pieces)) + reader.finish()
    return told, [(one.name, json.loads(one.arguments)) for one in reader.calls]


def test_a_block_becomes_its_calls_and_is_not_shown() -> None:
    told, calls = read("Let me look.\n" + block(call(to="PC2"), call("read_topology")))

    assert told == "Let me look.\n"
    assert calls == [("ping", {"to": "PC2"}), ("read_topology", {})]


def test_one_call_needs_no_list() -> None:
    assert read(f"{FENCE}\n{json.dumps(call())}\n```\n")[1] == [("ping", {})]


def test_half_a_character_in_a_call_can_be_stored() -> None:
    reader = CallReader(NONCE, NAMES)
    reader.feed(f"{FENCE}\n{json.dumps(call(host='PC' + chr(0xD800)))}\n```\n")

    assert reader.calls[0].arguments.encode().decode() == '{"host": "PC\ufffd"}'


@pytest.mark.parametrize(
    "written",
    [
        block(call(), nonce="f" * 16),
        f"Use {block(call())}",
        f"{FENCE}\n{json.dumps([call()])}\n",
        f"{FENCE}\n[{json.dumps(call())},]\n```",
        block(call("rm")),
        block({**call(), "id": "1"}),
        block({"name": "ping"}),
        block({"name": "ping", "arguments": "{}"}),
        block({"name": "ping", "arguments": []}),
        block(),
        block(*[call()] * 17),
        f'{FENCE}\n{{"name": "ping", "name": "ping", "arguments": {{}}}}\n```',
        f'{FENCE}\n{{"name": "ping", "arguments": {{"x": NaN}}}}\n```',
        f"```json\n{json.dumps([call()])}\n```",
        f"<tool_call>{json.dumps(call())}</tool_call>",
    ],
)
def test_what_is_not_wholly_right_is_text_and_no_call(written: str) -> None:
    told, calls = read(written)

    assert calls == []
    assert told.rstrip("\n") == written.rstrip("\n")


def test_only_the_first_block_counts() -> None:
    told, calls = read(f"{block(call(to='1'))}\n{block(call(to='2'))}")

    assert calls == [("ping", {"to": "1"})]
    assert told == block(call(to="2"))


ANSWERS = st.lists(
    st.one_of(
        st.text(max_size=20),
        st.sampled_from(
            ["\n", "`", "```", FENCE, FENCE[:7], f"{FENCE}\n", "```\n", "[", "]", "  "]
        ),
        st.just(json.dumps([call(to="PC2")])),
        st.just(f"\n{block(call(to='PC2'))}\n"),
    ),
    max_size=12,
).map("".join)


@given(answer=ANSWERS, cuts=st.lists(st.integers(0, 400), max_size=8))
def test_it_makes_no_difference_where_the_text_is_cut(
    answer: str, cuts: list[int]
) -> None:
    places = sorted({0, len(answer), *(cut for cut in cuts if cut < len(answer))})
    pieces = [answer[a:b] for a, b in zip(places, places[1:], strict=False)]

    assert read(*pieces) == read(answer)


@given(answer=ANSWERS)
def test_text_without_the_fence_passes_unchanged(answer: str) -> None:
    answer = answer.replace(FENCE, "")

    assert read(answer) == (answer, [])


@given(answer=ANSWERS)
def test_nothing_is_lost_but_the_block_of_calls(answer: str) -> None:
    told, calls = read(answer)

    if calls:
        assert any(
            answer.startswith(told[:cut]) and answer.endswith(told[cut:])
            for cut in range(len(told) + 1)
        )
    else:
        assert told.rstrip("\n") == answer.rstrip("\n")


@given(st.text(max_size=200))
def test_reading_strictly_never_fails(written: str) -> None:
    calls = strictly_read(written, NAMES)

    assert calls is None or all(one.name in NAMES for one in calls)


def test_the_conversation_is_told_without_calls_of_the_api() -> None:
    asked = {"id": "1", "name": "ping", "args": {"to": "PC2"}, "type": "tool_call"}
    told = as_text(
        [
            SystemMessage("Be brief."),
            HumanMessage("Why?"),
            AIMessage("", tool_calls=[asked]),
            ToolMessage("no answer", tool_call_id="1", name="ping"),
            ToolMessage("up", tool_call_id="2", name="status"),
            HumanMessage("And?"),
        ],
        described(TOOLS, NONCE),
        NONCE,
    )

    kinds = [type(message).__name__ for message in told]
    assert kinds == ["SystemMessage", "HumanMessage", "AIMessage", "HumanMessage"]
    assert "- ping: Pings." in str(told[0].content)
    assert read(str(told[2].content))[1] == [("ping", {"to": "PC2"})]
    assert all(part in str(told[3].content) for part in ("no answer", "up", "And?"))
    assert not any(getattr(message, "tool_calls", None) for message in told)


class Obedient(ScriptedModel):
    """Writes the call in the form that its prompt asks for."""

    async def _astream(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        fence = next(
            line for line in messages[0].content.split("\n") if "```call-" in line
        )
        written = self.answers[0].replace("FENCE", fence)
        self.answers = [text(written)]
        async for chunk in super()._astream(messages, *args, **kwargs):
            yield chunk


async def answered(written: str) -> Any:
    model = Obedient(text("x"))
    model.answers = [written]
    assembler = Assembler()
    async for delta in ask_prompted(
        model, [SystemMessage("Be brief."), HumanMessage("Why?")], TOOLS
    ):
        list(assembler.feed(delta))
    return assembler.answer


async def test_a_model_that_keeps_to_the_form_calls_a_tool() -> None:
    answer = await answered('I look.\nFENCE\n[{"name":"ping","arguments":{}}]\n```')

    assert answer.text == "I look.\n"
    assert [(one.name, one.parsed()) for one in answer.calls] == [("ping", {})]
    assert answer.finish_reason == "tool_calls"


async def test_a_call_within_a_thought_is_none() -> None:
    answer = await answered(
        '<think>\nFENCE\n[{"name":"ping","arguments":{}}]\n```\n</think>Hello'
    )

    assert (answer.text, answer.calls) == ("Hello", [])


async def test_each_request_has_a_nonce_of_its_own() -> None:
    prompts = []
    for _ in range(2):
        model = ScriptedModel(text("Hi"))
        async for _ in ask_prompted(model, [SystemMessage("Be brief.")], TOOLS):
            pass
        prompts.append(model.seen[0][0].content)

    assert prompts[0] != prompts[1]
