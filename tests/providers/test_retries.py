"""Waits that a person hears of, and failures that are not repeated."""

import asyncio
import time
from collections.abc import Callable

import pytest

from llmconfig import openai_model
from llmconfig.errors import ModelRateLimited, ModelUnreachable
from tests.providers.asking import put
from tests.providers.conftest import MakeModel
from tests.providers.replay import Answer, Replay, reason, says, text

DEADLINE = 20.0


async def test_status_says_how_long_the_wait_is(
    replay: Replay, make_model: MakeModel
) -> None:
    slow = Answer([b"slow"], status=429, headers={"Retry-After": "0.3"})
    replay.script(slow, says("Hello"))

    outcome = await put(make_model())

    assert outcome.answer.text == "Hello"
    assert outcome.statuses == [
        "The language model's provider accepts no more requests for now. "
        "Trying again in 1 s."
    ]


async def test_date_to_come_back_at_is_understood(
    replay: Replay, make_model: MakeModel
) -> None:
    far = {"Retry-After": "Fri, 31 Dec 2100 23:59:59 GMT"}
    replay.script(Answer([b"slow"], status=429, headers=far))

    outcome = await put(make_model())

    assert isinstance(outcome.error, ModelRateLimited)
    assert (outcome.error.seconds or 0) > 3600
    assert len(replay.bodies) == 1


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
async def test_refusals_are_not_repeated(
    status: int, replay: Replay, make_model: MakeModel
) -> None:
    replay.script(Answer([b"no"], status=status))

    outcome = await put(make_model())

    assert outcome.error is not None
    assert len(replay.bodies) == 1


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504, 529])
async def test_failing_servers_are_asked_three_times(
    status: int, replay: Replay, make_model: MakeModel
) -> None:
    replay.script(Answer([b"oops"], status=status))

    outcome = await put(make_model())

    assert isinstance(outcome.error, ModelUnreachable)
    assert len(replay.bodies) == 3
    assert len(outcome.statuses) == 2


async def test_server_that_is_down_is_told_as_such(
    replay: Replay, make_model: MakeModel
) -> None:
    model = make_model()
    model.root_async_client.base_url = "http://127.0.0.1:9/v1"

    outcome = await put(model)

    assert isinstance(outcome.error, ModelUnreachable)
    assert len(outcome.statuses) == 2


async def test_what_a_server_refused_is_not_sent_to_it_again(
    replay: Replay, make_model: MakeModel
) -> None:
    replay.script(says("Hello", demands=["no stream_options"]))
    await put(make_model())

    await put(make_model())

    assert ["stream_options" in body for body in replay.bodies] == [True, False, False]


async def test_newer_name_of_max_tokens_is_tried(
    replay: Replay, make_model: MakeModel
) -> None:
    replay.script(says("Hello", demands=["no max_tokens"]))

    await put(make_model(max_tokens=77))

    assert replay.bodies[-1]["max_completion_tokens"] == 77


async def test_slow_answer_that_goes_on_is_never_a_stall(
    replay: Replay, make_model: MakeModel
) -> None:
    steps = [part for word in "abcdefgh" for part in (text(word), 0.15)]
    replay.script(Answer([*steps, reason("stop")]))

    outcome = await put(make_model(stall_seconds=0.7))

    assert outcome.answer.text == "abcdefgh"


async def test_cancelling_closes_the_connection(
    replay: Replay, make_model: MakeModel
) -> None:
    replay.script(Answer([text("par"), "stall"]))
    task = asyncio.create_task(put(make_model()))
    await _until(lambda: replay.open_count == 1)

    task.cancel()

    await _until(lambda: replay.open_count == 0)
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_retries_wait_longer_each_time() -> None:
    waits = [
        openai_model._wait_before_retry(ModelUnreachable(), number)
        for number in range(3)
    ]

    assert waits == [0.01, 0.02, None]


async def _until(is_true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not is_true():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
