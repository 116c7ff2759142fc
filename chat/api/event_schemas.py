"""JSON schemas of the events, made from the vocabulary."""

import dataclasses
import types
import typing
from typing import Any

from chat.events.vocabulary import EVENT_TYPES, Event

Schema = dict[str, Any]

_HEAD: Schema = {
    "seq": {"type": "integer", "minimum": 1, "description": "Number in the run's log."},
    "attempt": {"type": "integer", "minimum": 0},
    "session_id": {"type": "string", "format": "uuid"},
    "run_id": {"type": "string", "format": "uuid"},
    "round": {"type": "integer", "minimum": 1},
    "timestamp": {"type": "string", "format": "date-time"},
}
_SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean"}
_HEARTBEAT: Schema = {
    "type": "object",
    "description": "Nothing happened for a while; carries no number.",
    "required": ["type"],
    "properties": {"type": {"const": "heartbeat"}, "session_id": {"type": "string"}},
}
_NEWS: Schema = {
    "type": "object",
    "description": "News of one of the user's sessions; carries no number.",
    "required": ["type"],
    "properties": {
        "type": {
            "enum": [
                *("ready", "run_started", "run_finished", "title"),
                *("approval_waiting", "approval_resolved", "heartbeat"),
            ]
        },
        "session_id": {"type": "string", "format": "uuid"},
        "run_id": {"type": "string", "format": "uuid"},
        "round": {"type": "integer"},
        "status": {"type": "string"},
        "reason": {"type": "string"},
        "title": {"type": "string"},
    },
}


def event_schemas() -> dict[str, Schema]:
    """By component name; `Event` is one of all others."""
    schemas = {_name(kind): _schema(kind) for kind in EVENT_TYPES.values()}
    schemas["HeartbeatEvent"] = _HEARTBEAT
    references = {name: f"#/components/schemas/{name}" for name in schemas}
    mapping = {kind.type: references[_name(kind)] for kind in EVENT_TYPES.values()}
    mapping["heartbeat"] = references["HeartbeatEvent"]
    event: Schema = {
        "description": "The `data` of one server-sent event.",
        "oneOf": [{"$ref": reference} for reference in references.values()],
        "discriminator": {"propertyName": "type", "mapping": mapping},
    }
    return {**schemas, "Event": event, "UserNews": _NEWS}


def _name(kind: type[Event]) -> str:
    return f"{kind.__name__}Event"


def _schema(kind: type[Event]) -> Schema:
    hints = typing.get_type_hints(kind)
    fields = dataclasses.fields(kind)
    own = {field.name: _of_type(hints[field.name]) for field in fields}
    needed = [field.name for field in fields if field.default is dataclasses.MISSING]
    return {
        "type": "object",
        "description": kind.__doc__ if "(" not in (kind.__doc__ or "(") else "",
        "required": [*dict.fromkeys(["type", *_HEAD, *needed])],
        "properties": {"type": {"const": kind.type}, **_HEAD, **own},
    }


def _of_type(hint: Any) -> Schema:
    if hint in _SIMPLE:
        return {"type": _SIMPLE[hint]}
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is list:
        return {"type": "array", "items": _of_type(arguments[0])}
    if origin is dict:
        return {"type": "object"}
    if origin is types.UnionType:
        kinds = [_of_type(one)["type"] for one in arguments if one is not type(None)]
        return {"type": [*kinds, "null"]}
    raise TypeError(f"No schema for {hint!r}")
