"""What a tool returned, as the model reads it: JSON with the number of each passage."""

from collections.abc import Mapping
from typing import Any

from chat.agent.citations import Registry
from chat.agent.state import ToolResult
from chat.agent.tools.base import Tool
from chat.agent.tools.kit import Evidence


def result_of(
    tool: Tool[Any], value: Any, registry: Registry, limit: int
) -> ToolResult:
    """A tool's value as the model reads it, with the number of each passage."""
    if not isinstance(value, Evidence):
        return ToolResult(tool.render(value, limit), is_error=False)
    numbers = {passage.id: registry.add(passage) for passage in value.passages}
    placed: set[str] = set()
    shown = _numbered(value.value, numbers, placed)
    extra: dict[str, Any] = {}
    missing = [passage for passage in value.passages if passage.id not in placed]
    if missing:
        extra["citable"] = [
            {
                "cite": f"[{numbers[passage.id]}]",
                "title": passage.title,
                "text": passage.text,
            }
            for passage in missing
        ]
    if value.facts:
        extra["facts"] = list(value.facts)
    if extra:
        shown = {**(shown if isinstance(shown, dict) else {"result": shown}), **extra}
    evidence: dict[str, Any] = {
        "passages": registry.citations(numbers.values()),
        "facts": list(value.facts),
    }
    alike = {
        str(numbers[passage.id]): passage.similarity
        for passage in value.passages
        if passage.similarity
    }
    if alike:
        evidence["similarity"] = alike
    if value.changed:
        evidence["changed"] = dict(value.changed)
    return ToolResult(tool.render(shown, limit), is_error=False, evidence=evidence)


def _numbered(value: Any, numbers: Mapping[str, int], placed: set[str]) -> Any:
    """With `"cite": "[3]"` wherever a passage stands, by its id."""
    match value:
        case dict():
            found = {
                key: _numbered(item, numbers, placed)
                for key, item in value.items()
                if key != "cite"
            }
            key = value.get("cite") or value.get("id")
            if isinstance(key, str) and key in numbers:
                placed.add(key)
                found["cite"] = f"[{numbers[key]}]"
            return found
        case list() | tuple():
            return [_numbered(item, numbers, placed) for item in value]
        case _:
            return value
