"""Bodies that are too large are refused before they are read (frames: by Daphne)."""

import re
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


# Where documents are uploaded: by the API, and in the admin.
_UPLOADS = re.compile(
    r"(/v3/.*/documents(/[^/]+)?|/admin/knowledge/(document|collection)/.*)$"
)


class BodyLimit:
    """An ASGI application that never sees a body of more than `limit` bytes.

    Where documents are uploaded, `upload_limit` counts.
    """

    def __init__(self, app: App, limit: int, upload_limit: int = 0) -> None:
        self._app = app
        self._limit = limit
        self._upload_limit = max(limit, upload_limit)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_upload = _UPLOADS.search(scope.get("path", ""))
        limit = self._upload_limit if is_upload else self._limit
        for name, value in scope.get("headers", ()):
            if name == b"content-length" and int(value or 0) > limit:
                await self._refuse(send, limit)
                return
        seen, is_started = 0, False

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
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
                await self._refuse(send, limit)

    async def _refuse(self, send: Send, limit: int) -> None:
        text = f"The request is larger than {limit} bytes."
        body = orjson.dumps({"code": "body_too_large", "message": text, "detail": text})
        headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": body})
