"""What the specifications ask of models: any kind, nothing lost on the way."""

from collections.abc import Iterator

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    AnyMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from chat.agent.translate import Assembler
from llmconfig import clients
from llmconfig.chain import Candidate, Chain
from llmconfig.clients import chat_client
from llmconfig.fallback import FallbackModel
from llmconfig.models import LLMConfig
from llmconfig.payload import chat_messages
from llmconfig.selection import ModelChoice
from llmconfig.streaming import ask
from llmconfig.window import unlimited
from tests.chat.agent.test_graph import run_graph
from tests.fakes.models import ScriptedModel, call, end, text
from tests.fakes.provider import ScriptedProvider, calls

TOOL = {
    "type": "function",
    "function": {
        "name": "ping",
        "description": "Pings a device.",
        "parameters": {"type": "object", "properties": {"to": {"type": "string"}}},
    },
}


@pytest.fixture(autouse=True)
def _own_pool() -> Iterator[None]:
    clients._http.cache_clear()
    yield
    clients._http.cache_clear()


async def test_any_chat_model_works_in_the_graph() -> None:
    # Connectors call the reason for the end by several names.
    reason = AIMessageChunk("", response_metadata={"stop_reason": "end_turn"})
    model = ScriptedModel([AIMessageChunk("PC1 is off."), reason])

    messages, _ = await run_graph(model)

    assert messages[-1].content == "PC1 is off."


async def test_the_model_of_a_run_is_a_chat_model_of_langchain() -> None:
    plain = GenericFakeChatModel(messages=iter([AIMessage("Fine.")]))
    model = FallbackModel(Chain([Candidate("a", lambda: plain, unlimited)]))

    assert isinstance(model, BaseChatModel)
    assert (await model.ainvoke("Why?")).content == "Fine."


def test_messages_reach_the_model_without_loss() -> None:
    asked = {"id": "c1", "name": "ping", "args": {"to": "PC2"}, "type": "tool_call"}
    messages: list[AnyMessage] = [
        SystemMessage("Be brief."),
        HumanMessage("Grüße – 你好 🙂"),
        AIMessage("I look.", tool_calls=[asked]),
        ToolMessage("84 bytes from 10.0.0.2", tool_call_id="c1"),
        AIMessage("It answers."),
    ]

    sent = chat_messages(messages)

    assert [one["role"] for one in sent] == [
        *("system", "user", "assistant", "tool", "assistant"),
    ]
    assert sent[1]["content"] == "Grüße – 你好 🙂"
    [made] = sent[2]["tool_calls"]
    assert sent[2]["content"] == "I look."
    assert made["function"] == {"name": "ping", "arguments": '{"to":"PC2"}'}
    assert sent[3]["tool_call_id"] == made["id"] == "c1"


async def test_a_compatible_model_gets_the_definitions_and_its_calls_come_back(
    provider: ScriptedProvider,
) -> None:
    provider.script(calls(("ping", {"to": "PC2"})))
    config = LLMConfig(base_url=provider.url, model="m", api_key="sk-0123456789")
    assembler = Assembler()

    model = chat_client(ModelChoice(config, is_offline=False))
    async for delta in ask(model, [HumanMessage("Why?")], [TOOL]):
        list(assembler.feed(delta))

    assert provider.requests[0].body["tools"] == [TOOL]
    [asked] = assembler.answer.calls
    assert (asked.name, asked.parsed()) == ("ping", {"to": "PC2"})


async def test_another_model_gets_its_tools_from_its_connector() -> None:
    model = ScriptedModel([call("ping", '{"to": "PC2"}', id="1"), end("tool_calls")])
    assembler = Assembler()

    async for delta in ask(model, [HumanMessage("Why?")], [TOOL]):
        list(assembler.feed(delta))

    assert model.bound == [TOOL]
    [asked] = assembler.answer.calls
    assert asked.parsed() == {"to": "PC2"}


async def test_without_tools_nothing_is_bound() -> None:
    model = ScriptedModel(text("Hello"))

    async for _ in ask(model, [HumanMessage("Why?")]):
        pass

    assert model.bound == []
