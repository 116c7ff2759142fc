import json

from langchain_core.messages import AIMessageChunk, HumanMessage, SystemMessage

from llmconfig.offline import OfflineChatModel
from llmconfig.offline.model import count_tokens
from tests.llmconfig.offline.labs import TOOLS, ask, tool_schema, two_router_lab

SCHEMAS = [tool_schema(name) for name in TOOLS]


async def test_text_streams_in_words_that_add_up_to_the_answer() -> None:
    model = OfflineChatModel(pace=0.0)
    question = [HumanMessage("hello")]

    chunks = [chunk async for chunk in model.astream(question)]

    texts = [chunk.text for chunk in chunks if chunk.text]
    assert len(texts) > 50
    assert "".join(texts) == model.invoke(question).text


async def test_the_last_chunk_has_usage_and_finish_reason() -> None:
    model = OfflineChatModel(pace=0.0)

    chunks = [chunk async for chunk in model.astream([HumanMessage("hello")])]
    whole = sum(chunks[1:], chunks[0])

    assert isinstance(whole, AIMessageChunk)
    assert whole.usage_metadata is not None
    assert whole.usage_metadata["input_tokens"] == count_tokens(len("hello")) == 2
    assert whole.usage_metadata["output_tokens"] == count_tokens(len(whole.text))
    assert whole.response_metadata["finish_reason"] == "stop"
    assert whole.response_metadata["model_name"] == "offline"


async def test_tool_calls_stream_in_fragments_that_assemble() -> None:
    _, messages = await ask(two_router_lab(), "Why can't ada reach bob?")
    model = OfflineChatModel(pace=0.0).bind_tools(SCHEMAS)
    # After the topology the consoles are read by two calls at once.
    history = messages[:4]

    chunks = [chunk async for chunk in model.astream(history)]
    whole = sum(chunks[1:], chunks[0])

    assert isinstance(whole, AIMessageChunk)
    assert len(chunks) > 10
    assert [call["name"] for call in whole.tool_calls] == ["run_commands"] * 2
    assert len({call["id"] for call in whole.tool_calls}) == 2
    pieces = [c for chunk in chunks for c in chunk.tool_call_chunks if c["index"] == 0]
    assert json.loads("".join(piece["args"] or "" for piece in pieces))
    assert whole.response_metadata["finish_reason"] == "tool_calls"


async def test_the_next_step_depends_on_the_messages_alone() -> None:
    text, messages = await ask(two_router_lab(), "Why can't ada reach bob?")
    fresh = OfflineChatModel(pace=0.0).bind_tools(SCHEMAS)

    again = await fresh.ainvoke(messages[:-1])

    assert again.text == text


async def test_a_title_is_short_and_made_from_the_message() -> None:
    model = OfflineChatModel(pace=0.0)
    prompt = SystemMessage("[task:title] Give this conversation a title.")
    question = "Why can't the computer named PC1 reach the computer named PC2 today?"

    short = await model.ainvoke([prompt, HumanMessage("Ping `PC1`\nto PC2")])
    long = await model.ainvoke([prompt, HumanMessage(question)])

    assert short.text == "Ping PC1 to PC2"
    assert long.text == "Why can't the computer named PC1 reach…"
    assert len(long.text) <= 40


async def test_without_a_question_it_explains_itself() -> None:
    answer = await OfflineChatModel(pace=0.0).ainvoke([SystemMessage("prompt")])

    assert "not a language model" in answer.text
