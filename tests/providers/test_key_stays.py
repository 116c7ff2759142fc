"""A provider that sends the key back finds no way for it to reach a person or a log."""

import logging

import pytest

from tests.providers.asking import put
from tests.providers.conftest import KEY, MakeModel
from tests.providers.replay import Answer, Replay, event, text

ECHOES = {
    "in the body of a 401": Answer(
        [f'{{"error": {{"message": "Incorrect API key: {KEY}"}}}}'.encode()], status=401
    ),
    "in the body of a 400": Answer([f"bad request: {KEY}".encode()], status=400),
    "in the body of a 500": Answer([f"Bearer {KEY}".encode()], status=500),
    "in a header": Answer([b"no"], status=403, headers={"X-Key": KEY}),
    "in Retry-After": Answer([b"slow"], status=429, headers={"Retry-After": KEY}),
    "in an address": Answer(
        [], status=302, headers={"Location": f"http://127.0.0.1:1/?key={KEY}"}
    ),
    "within the stream": Answer(
        [text("par"), event({"error": {"code": KEY, "message": KEY}})]
    ),
    "instead of a chunk": Answer([text("par"), f"data: {KEY}\n\n".encode()]),
    "as the whole answer": Answer([f"<p>{KEY}</p>".encode()]),
    "as its kind": Answer([b"x"], headers={"Content-Type": f"text/{KEY}"}),
}


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
async def test_key_that_is_echoed_is_in_no_error_status_or_log(
    echo: Answer,
    replay: Replay,
    make_model: MakeModel,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    replay.script(echo)

    outcome = await put(make_model())

    assert replay.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert outcome.error is not None
    told = f"{outcome.error!r} {outcome.error} {outcome.statuses} {caplog.text}"
    assert KEY not in told
    assert KEY not in repr(vars(outcome.error))


async def test_key_is_in_no_representation_of_the_model(make_model: MakeModel) -> None:
    model = make_model()

    assert KEY not in f"{model!r} {model} {model.model_dump_json()}"
