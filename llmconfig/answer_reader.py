"""The bytes of one HTTP answer, cut anywhere → deltas. Knows when it is over, and why.

What the body is, its first character says: labels like Content-Type are often wrong.
"""

import json
from typing import Any

import orjson

from llmconfig.deltas import Delta, TextCleaner, delta_of, error_of, merged
from llmconfig.errors import (
    ModelBadAnswer,
    ModelError,
    ModelStreamCut,
    ModelStreamFailed,
)
from llmconfig.provider_errors import in_band
from llmconfig.sse import EventTooLarge, SSEDecoder

_LIMIT = 16 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"


class AnswerReader:
    """Feed it what arrives; `failure` holds for what comes after the deltas."""

    def __init__(self, *, is_stream: bool = True) -> None:
        self.is_over = False
        self.failure: ModelError | None = None
        self.has_reason = False
        self.has_data = False
        self._is_stream = is_stream
        self._said: set[str] = set()
        self._decoder = SSEDecoder()
        self._head: bytes | None = b""
        self._body: bytearray | None = None
        self._text, self._thought = TextCleaner(), TextCleaner()

    def feed(self, data: bytes) -> list[Delta]:
        """What is new, neighbours of text joined."""
        if self._head is not None:
            data = self._sniff(self._head + data)
        if self._body is not None:
            self._body += data
            if len(self._body) > _LIMIT:
                self._fail(ModelBadAnswer())
            return []
        try:
            payloads = self._decoder.feed(data)
        except EventTooLarge:
            self._fail(ModelBadAnswer())
            return []
        return self._deltas(payloads, is_end=False)

    def finish(self) -> list[Delta]:
        """The connection has ended."""
        if self._body is not None:
            return self._whole_body(bytes(self._body))
        deltas = self._deltas(self._decoder.finish(), is_end=True)
        if not self.is_over:
            if self.has_data or self._is_stream:
                self._end(deltas)
            else:
                self._fail(ModelBadAnswer())
        return deltas

    def _sniff(self, head: bytes) -> bytes:
        """Look at the first character that is there."""
        start = head.removeprefix(_BOM).lstrip()
        if not start:
            self._head = head
            return b""
        self._head = None
        if start[:1] in (b"{", b"["):
            self._body = bytearray()
        elif start[:1] == b"<":
            self._fail(ModelBadAnswer())
        return head

    def _fail(self, error: ModelError) -> None:
        self.failure, self.is_over = error, True

    def _end(self, deltas: list[Delta], *, is_said: bool = False) -> None:
        """No more will come; without a reason for its end the answer was cut."""
        self.is_over = True
        rest = Delta(text=self._text.finish(), reasoning=self._thought.finish())
        if rest.says_something():
            deltas.append(rest)
        if self.has_reason:
            return
        # Some servers know no reasons; their [DONE] is enough for a text, but no
        # tool runs on it, since some gateways say [DONE] after a cut as well.
        if is_said and "text" in self._said and "calls" not in self._said:
            deltas.append(Delta(finish_reason="stop"))
            return
        self._fail(ModelStreamCut())

    def _deltas(self, payloads: list[bytes], *, is_end: bool) -> list[Delta]:
        deltas: list[Delta] = []
        for payload in payloads:
            for chunk in _chunks(payload):
                if self.is_over:
                    break
                self.has_data = True
                if chunk is _DONE:
                    deltas = merged(deltas)
                    self._end(deltas, is_said=True)
                elif chunk is None:
                    # At the end it is the rest of a chunk that was cut off.
                    self._fail(ModelStreamCut() if is_end else ModelStreamFailed())
                elif error := error_of(chunk):
                    self._fail(in_band(error))
                else:
                    deltas.append(self._checked(delta_of(chunk)))
        return merged(deltas)

    def _checked(self, delta: Delta) -> Delta:
        """Storable; a whole message adds nothing to what was streamed before."""
        if delta.is_whole and self._said:
            delta.text, delta.reasoning, delta.calls = "", "", []
        if delta.text:
            self._said.add("text")
            delta.text = self._text.clean(delta.text)
        if delta.reasoning:
            self._said.add("reasoning")
            delta.reasoning = self._thought.clean(delta.reasoning)
        if delta.calls:
            self._said.add("calls")
        self.has_reason = self.has_reason or bool(delta.finish_reason)
        return delta

    def _whole_body(self, body: bytes) -> list[Delta]:
        """From a server that does not stream."""
        value = _parsed(body.removeprefix(_BOM))
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if not isinstance(value, dict):
            self._fail(ModelBadAnswer())
            return []
        if error := error_of(value):
            self._fail(in_band(error))
            return []
        if not isinstance(value.get("choices"), list):
            self._fail(ModelBadAnswer())
            return []
        deltas = [self._checked(delta_of(value))]
        self._end(deltas, is_said=True)
        return deltas


_DONE: dict[str, Any] = {}


def _chunks(payload: bytes) -> list[dict[str, Any] | None]:
    """One as a rule; None for what is no JSON."""
    chunk = _chunk(payload)
    if chunk is None and b"\n" in payload:
        # Some servers forget the blank line between events.
        return [_chunk(line) for line in payload.split(b"\n") if line.strip()]
    return [chunk]


def _chunk(payload: bytes) -> dict[str, Any] | None:
    if payload.strip() == b"[DONE]":
        return _DONE
    value = _parsed(payload)
    if value is _INVALID:
        return None
    return value if isinstance(value, dict) else {"choices": []}


_INVALID = object()


def _parsed(payload: bytes) -> Any:
    try:
        return orjson.loads(payload)
    except orjson.JSONDecodeError:
        # Halves of surrogate pairs are no JSON to orjson; servers cut them so.
        try:
            return json.loads(payload)
        except (ValueError, RecursionError):
            return _INVALID
