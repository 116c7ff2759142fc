"""LangGraph's rule for a list of messages that several steps wrote."""

from collections.abc import Iterable
from typing import Any

from chat.importing.decoding import Named

_ALL = "__remove_all__"


def merge(found: Any, written: Iterable[Any]) -> list[Any]:
    """The same id replaces, a removal removes, everything else is added."""
    merged = _as_list(found)
    for value in written:
        for message in _as_list(value):
            _add(merged, message)
    return merged


def _add(merged: list[Any], message: Any) -> None:
    key = _id_of(message)
    is_removal = isinstance(message, Named) and message.name == "RemoveMessage"
    if is_removal and key == _ALL:
        merged.clear()
        return
    places = [
        place for place, known in enumerate(merged) if key and _id_of(known) == key
    ]
    if places and is_removal:
        del merged[places[0]]
    elif places:
        merged[places[0]] = message
    elif not is_removal:
        merged.append(message)


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, Named) and value.module == "langgraph.types":
        # An Overwrite; its only argument is the new value.
        value = value.data.get("value") if isinstance(value.data, dict) else None
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _id_of(message: Any) -> str:
    data = message.data if isinstance(message, Named) else message
    found = data.get("id") if isinstance(data, dict) else None
    return found if isinstance(found, str) else ""
