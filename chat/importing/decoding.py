"""Stored checkpoints → plain data.

LangGraph's own reader imports modules and calls what the file names. This one makes no
object at all: it keeps the name beside the data, and refuses names that no checkpoint
of a conversation needs.
"""

import json
from dataclasses import dataclass
from typing import Any

import ormsgpack

from chat.importing.errors import ThreadRefused

_METHOD = 5  # LangGraph's extension codes up to here hold (module, name, data, …).
_SNAPSHOT = 7
_DEEPEST = 30
_MESSAGES = ("langchain_core.messages.", "langchain.schema.messages")
_HARMLESS = {
    "collections",
    "datetime",
    "decimal",
    "ipaddress",
    "langchain_core.documents.base",
    "langgraph.store.base",
    "langgraph.types",
    "pathlib",
    "pathlib._local",
    "uuid",
    "zoneinfo",
}
_HARMLESS_NAMES = {("builtins", "set"), ("builtins", "frozenset"), ("re", "compile")}


@dataclass(frozen=True)
class Named:
    """What the file says of an object; none was made."""

    module: str
    name: str
    data: Any

    def __str__(self) -> str:
        return str(self.data)


def decode(kind: str | None, stored: bytes) -> Any:
    """Raises ThreadRefused for what is damaged, unknown or made to run code."""
    unpacker = _Unpacker()
    try:
        match kind:
            case "msgpack":
                return unpacker.unpack(stored)
            case "json" | None:
                return _revive(json.loads(stored))
            case "null":
                return None
            case "bytes" | "bytearray":
                return bytes(stored)
    except (ValueError, TypeError, RecursionError, MemoryError) as exc:
        damaged = ThreadRefused("Its newest checkpoint is damaged.")
        raise unpacker.refusal or damaged from exc
    raise ThreadRefused(
        f"Its checkpoint is stored as {str(kind)[:40]!r}, which is not read."
    )


class _Unpacker:
    """One msgpack text with its nested ones; keeps the first refusal.

    The library swallows what its hook raises, so that it is raised at the end.
    """

    def __init__(self) -> None:
        self.refusal: ThreadRefused | None = None
        self._depth = 0

    def unpack(self, stored: bytes) -> Any:
        return ormsgpack.unpackb(
            stored, ext_hook=self._extension, option=ormsgpack.OPT_NON_STR_KEYS
        )

    def _extension(self, code: int, data: bytes) -> Any:
        self._depth += 1
        try:
            return self._read(code, data)
        except ThreadRefused as exc:
            self.refusal = self.refusal or exc
            raise
        finally:
            self._depth -= 1

    def _read(self, code: int, data: bytes) -> Any:
        if self._depth > _DEEPEST:
            raise ThreadRefused("Its checkpoint is nested too deeply.")
        if code == _SNAPSHOT:
            return self.unpack(data)
        if code > _METHOD:
            raise ThreadRefused(f"It holds data of kind {code}, which is not read.")
        match self.unpack(data):
            case [str(module), str(name), inner, *_]:
                return _named(module, name, inner)
            case _:
                raise ThreadRefused("Its newest checkpoint is damaged.")


def _revive(value: Any) -> Any:
    """LangChain's JSON envelopes, of both versions, as named data."""
    match value:
        case {"lc": 1 | 2, "type": "constructor", "id": [*path, name]} if path:
            data = value.get("kwargs") or value.get("args")
            return _named(".".join(map(str, path)), str(name), _revive(data))
        case {"lc": 1 | 2, "type": "secret" | "not_implemented"}:
            return None
        case dict():
            return {key: _revive(item) for key, item in value.items()}
        case list():
            return [_revive(item) for item in value]
        case _:
            return value


def _named(module: str, name: str, data: Any) -> Named:
    is_message = f"{module}.".startswith(_MESSAGES)
    if not (is_message or module in _HARMLESS or (module, name) in _HARMLESS_NAMES):
        raise ThreadRefused(
            f"It holds an object of {module[:80]}.{name[:80]}, which is never made."
        )
    return Named(module, name, data)
