"""A model server that says the time, fifty times a second: `python -m bench.model`."""

import asyncio
import json
import sys
import time
from typing import Any

from aiohttp import web

PACE = 0.02
TITLE_MARK = "[task:title]"


async def answer(request: web.Request) -> web.StreamResponse:
    """The last message is the number of tokens; each token is its own send time."""
    messages = (await request.json())["messages"]
    is_title = TITLE_MARK in str(messages[0]["content"])
    count = 3 if is_title else int(messages[-1]["content"])
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    begun = time.monotonic()
    for number in range(count):
        due = begun + number * PACE
        if (wait := due - time.monotonic()) > 0:
            await asyncio.sleep(wait)
        try:
            await response.write(_chunk({"content": f"{time.monotonic_ns()} "}))
        except ConnectionError:
            # Stopped, or its worker was killed.
            return response
    await response.write(_chunk({}, reason="stop", usage=count))
    await response.write(b"data: [DONE]\n\n")
    return response


def _chunk(
    delta: dict[str, str], *, reason: str | None = None, usage: int = 0
) -> bytes:
    chunk: dict[str, Any] = {
        "id": "bench",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "bench",
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
    }
    if usage:
        chunk["usage"] = {
            "prompt_tokens": 10,
            "completion_tokens": usage,
            "total_tokens": 10 + usage,
        }
    return b"data: %s\n\n" % json.dumps(chunk).encode()


def main() -> None:
    application = web.Application()
    application.router.add_post("/v1/chat/completions", answer)
    web.run_app(application, host="127.0.0.1", port=int(sys.argv[1]), print=None)


if __name__ == "__main__":
    main()
