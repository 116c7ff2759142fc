"""Bodies that are too large are refused before they are read (frames: by Daphne)."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import orjson

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class _TooLarge(Exception):
    pass


class BodyLimit:
    """An ASGI application that never sees a body of more than `limit` bytes."""

    def __init__(self, app: App, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        for name, value in scope.get("headers", ()):
            if name == b"content-length" and int(value or 0) > self._limit:
                await self._refuse(send)
                return
        seen, is_started = 0, False

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._limit:
                raise _TooLarge
            return message

        async def noted(message: Message) -> None:
            nonlocal is_started
            is_started = True
            await send(message)

        try:
            await self._app(scope, counted, noted)
        except _TooLarge:
            if not is_started:
                await self._refuse(send)

    async def _refuse(self, send: Send) -> None:
        text = f"The request is larger than {self._limit} bytes."
        body = orjson.dumps({"code": "body_too_large", "message": text, "detail": text})
        headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": body})
