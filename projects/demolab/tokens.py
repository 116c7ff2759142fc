"""Bearer tokens of the simulated server: signed, with an end."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Mapping

LIFETIME = 24 * 60 * 60


class Tokens:
    """Issues and checks tokens; those of an earlier process are not valid."""

    def __init__(self, lifetime: float = LIFETIME) -> None:
        self._lifetime = lifetime
        self._secret = secrets.token_bytes(32)

    def issue(self, username: str) -> str:
        claims = {"sub": username, "exp": time.time() + self._lifetime}
        body = ".".join((_encode({"alg": "HS256", "typ": "JWT"}), _encode(claims)))
        return f"{body}.{self._sign(body)}"

    def refusal(self, token: str) -> str:
        """Why a token does not count, in GNS3's words; empty when it does."""
        body, _, signature = token.rpartition(".")
        # Bytes, because compare_digest refuses text beyond ASCII.
        expected = self._sign(body).encode()
        if not hmac.compare_digest(expected, signature.encode("utf-8", "replace")):
            return "Could not validate credentials"
        claims = json.loads(base64.urlsafe_b64decode(body.split(".")[1] + "=="))
        return "" if claims["exp"] > time.time() else "Token has expired"

    def _sign(self, body: str) -> str:
        data = body.encode("utf-8", "replace")
        digest = hmac.new(self._secret, data, hashlib.sha256).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _encode(claims: Mapping[str, object]) -> str:
    raw = json.dumps(claims).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
