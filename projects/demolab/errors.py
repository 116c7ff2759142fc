"""Refusals of the simulated server, in the shape GNS3 gives them."""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web

from projects.demolab.tokens import Tokens

PUBLIC = {"/v3/version", "/v3/access/users/authenticate", "/v3/access/users/login"}


class Refusal(Exception):
    """Ends a request with a status and a message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def guard(tokens: Tokens) -> Any:
    """Middleware: asks for a token, and gives every error GNS3's shape."""

    @web.middleware
    async def middleware(request: web.Request, handler: Any) -> web.StreamResponse:
        try:
            if request.path.startswith("/v3/") and request.path not in PUBLIC:
                _check(request, tokens)
            response: web.StreamResponse = await handler(request)
        except Refusal as exc:
            return message(exc.status, exc.message)
        except web.HTTPNotFound:
            return web.json_response({"detail": "Not Found"}, status=404)
        except web.HTTPMethodNotAllowed:
            return web.json_response({"detail": "Method Not Allowed"}, status=405)
        except web.HTTPRequestEntityTooLarge:
            return message(413, "The request is too large.")
        return response

    return middleware


def message(status: int, text: str) -> web.Response:
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return web.json_response({"message": text}, status=status, headers=headers)


async def body(request: web.Request) -> dict[str, Any]:
    """The JSON object sent, an empty one if nothing was."""
    raw = await request.read()
    if not raw:
        return {}
    try:
        found = json.loads(raw)
    except ValueError:
        raise Refusal(422, "JSON decode error") from None
    if not isinstance(found, dict):
        raise Refusal(422, "The body must be a JSON object")
    return found


def text_field(data: dict[str, Any], name: str, default: str | None = None) -> str:
    """A text of the body; without a default it is required."""
    found = data.get(name, default)
    if not isinstance(found, str) or (default is None and not found):
        raise Refusal(422, f"Field '{name}': a text is required")
    return found


def int_field(data: dict[str, Any], name: str, default: int | None = None) -> int:
    found = data.get(name, default)
    if not isinstance(found, int) or isinstance(found, bool):
        raise Refusal(422, f"Field '{name}': a whole number is required")
    return found


def _check(request: web.Request, tokens: Tokens) -> None:
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or not token:
        token = request.query.get("token", "")
    if not token:
        raise Refusal(401, "Not authenticated")
    reason = tokens.refusal(token.strip())
    if reason:
        raise Refusal(401, reason)
