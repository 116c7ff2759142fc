"""Why the stream is read by us: what the stock client makes of three faults."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from langchain_core.messages import BaseMessageChunk
from langchain_openai import ChatOpenAI

from llmconfig.errors import ModelStreamCut
from tests.providers.asking import QUESTION, put
from tests.providers.case import FOLDER, load
from tests.providers.conftest import KEY, MakeModel
from tests.providers.replay import Replay


@pytest.fixture
async def stock(replay: Replay) -> AsyncIterator[ChatOpenAI]:
    async with httpx.AsyncClient() as http:
        yield ChatOpenAI(
            model="replayed",
            base_url=replay.url,
            api_key=KEY,  # type: ignore[arg-type]
            http_async_client=http,
            stream_usage=True,
        )


async def answer_of(model: ChatOpenAI) -> BaseMessageChunk:
    chunks: Any = [chunk async for chunk in model.astream(QUESTION)]
    total = chunks[0]
    for chunk in chunks[1:]:
        total += chunk
    return total  # type: ignore[no-any-return]


async def test_stock_client_takes_a_cut_stream_for_an_answer(
    replay: Replay, stock: ChatOpenAI, make_model: MakeModel
) -> None:
    replay.script(*load(FOLDER / "cut_within_text.yaml").answers)

    theirs, ours = await answer_of(stock), await put(make_model())

    assert theirs.content == "The cause is"
    assert isinstance(ours.error, ModelStreamCut)


async def test_stock_client_repairs_cut_arguments(
    replay: Replay, stock: ChatOpenAI, make_model: MakeModel
) -> None:
    replay.script(*load(FOLDER / "cut_within_call.yaml").answers)

    theirs, ours = await answer_of(stock), await put(make_model())

    [call] = theirs.tool_calls  # type: ignore[attr-defined]
    assert call["args"] == {"at": "Sa"}
    assert isinstance(ours.error, ModelStreamCut)
    assert ours.answer.calls[0].parsed() is None


async def test_stock_client_drops_reasoning(
    replay: Replay, stock: ChatOpenAI, make_model: MakeModel
) -> None:
    replay.script(*load(FOLDER / "reasoning_demanded.yaml").answers[:1])

    theirs, ours = await answer_of(stock), await put(make_model())

    assert "Look first." not in str(theirs)
    assert ours.answer.reasoning == "Look first."


async def test_stock_client_adds_up_running_totals(
    replay: Replay, stock: ChatOpenAI, make_model: MakeModel
) -> None:
    replay.script(*load(FOLDER / "usage_in_every_chunk.yaml").answers)

    theirs, ours = await answer_of(stock), await put(make_model())

    assert theirs.usage_metadata["input_tokens"] > 10  # type: ignore[attr-defined]
    assert (ours.answer.usage.input_tokens, ours.answer.usage.output_tokens) == (10, 3)
