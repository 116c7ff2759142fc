"""A socket of a known person: by header, cookie, subprotocol or first frame."""

import asyncio
from typing import Any

import orjson
from channels.generic.websocket import AsyncWebsocketConsumer

from copilot_site.authentication import (
    Identity,
    NotAuthenticated,
    identify_scope,
    identify_token,
)
from copilot_site.lib.errors import UserFacingError
from copilot_site.lib.orm import in_orm_thread

# RFC 6455 and the range that it leaves to applications.
CLOSE_TOO_BIG = 1009
CLOSE_RECONNECT = 1012
CLOSE_NOT_AUTHENTICATED = 4401
CLOSE_NOT_FOUND = 4404

_AUTHENTICATE_SECONDS = 5.0
_FRAME_LENGTH = 512 * 1024


class IdentifiedConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # untyped
    """A socket of a known person: by header, cookie, subprotocol or first frame."""

    identity: Identity | None = None

    async def connect(self) -> None:
        try:
            self.identity = await identify_scope(self.scope)
        except UserFacingError as error:
            # Accepted first, so that a browser can read the reason.
            await self.accept()
            await self._refuse(error)
            return
        await self.accept()
        if self.identity is None:
            self._deadline = asyncio.create_task(self._give_up_waiting())
        else:
            await self.begin_safely()

    async def _give_up_waiting(self) -> None:
        await asyncio.sleep(_AUTHENTICATE_SECONDS)
        await self.close(CLOSE_NOT_AUTHENTICATED)

    async def receive(
        self, text_data: str | None = None, bytes_data: bytes | None = None
    ) -> None:
        if text_data is None or len(text_data) > _FRAME_LENGTH:
            await self.close(CLOSE_TOO_BIG)
            return
        try:
            frame = orjson.loads(text_data)
        except orjson.JSONDecodeError:
            frame = None
        if not isinstance(frame, dict) or not isinstance(frame.get("type"), str):
            await self.send_error("bad_frame", "A frame is a JSON object with a type.")
            return
        if self.identity is None:
            await self._authenticate(frame)
            return
        if not await in_orm_thread(self.identity.is_still_valid)():
            await self.close(CLOSE_NOT_AUTHENTICATED)
            return
        try:
            await self.command(frame)
        except UserFacingError as error:
            await self.send_error(error.code, str(error))

    async def _authenticate(self, frame: dict[str, Any]) -> None:
        token = frame.get("token")
        if frame["type"] == "authenticate" and isinstance(token, str):
            try:
                self.identity = await identify_token(token, self.scope)
            except UserFacingError as error:
                await self._refuse(error)
                return
        if self.identity is None:
            await self.close(CLOSE_NOT_AUTHENTICATED)
            return
        self._deadline.cancel()
        await self.begin_safely()

    async def _refuse(self, error: UserFacingError) -> None:
        """Not known, or not now: a GNS3 server that should tell is out of reach."""
        if isinstance(error, NotAuthenticated):
            await self.close(CLOSE_NOT_AUTHENTICATED)
            return
        await self.send_error(error.code, str(error))
        await self.close(CLOSE_RECONNECT)

    async def begin_safely(self) -> None:
        try:
            await self.begin()
        except UserFacingError as error:
            await self.send_error(error.code, str(error))
            await self.close(CLOSE_NOT_FOUND)

    async def begin(self) -> None:
        """The person is known. Raises UserFacingError to close the socket."""

    async def command(self, frame: dict[str, Any]) -> None:
        if frame["type"] == "ping":
            await self.send_json({"type": "pong"})
            return
        await self.send_error("unknown_command", f"Unknown type {frame['type'][:40]}.")

    async def send_json(self, value: dict[str, Any]) -> None:
        await self.send(text_data=orjson.dumps(value).decode())

    async def send_error(self, code: str, text: str) -> None:
        await self.send_json({"type": "error", "code": code, "error": text})

    async def disconnect(self, code: int) -> None:
        if deadline := getattr(self, "_deadline", None):
            deadline.cancel()
