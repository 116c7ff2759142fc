"""What a plan consists of: a bounded list of tool calls, checked before any runs."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from chat.agent.tools.base import Tool

LIMIT = 6
# Tools that a plan may use: they look something up, or keep what a person said.
_LOOKUPS = "lookup_"
_PLANNED = {
    *("search_documents", "remember", "recall", "forget"),
    *("describe_data", "query_data", "search_web"),
    *("list_documents", "read_document"),
}

Tools = Mapping[str, Tool[Any]]


@dataclass(frozen=True, slots=True)
class Step:
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {"tool": self.tool, "arguments": dict(self.arguments)}


@dataclass(frozen=True, slots=True)
class Plan:
    """`source`: keyword or llm; `question` with what a follow-up leaves unsaid."""

    question: str
    steps: tuple[Step, ...]
    source: str
    is_follow_up: bool = False


class StepInvalid(ValueError):
    """A step names no tool of this run, or its arguments do not fit."""


def plannable(tools: Tools) -> dict[str, Tool[Any]]:
    """Those of a run's tools that a plan may use."""
    return {
        name: tool
        for name, tool in tools.items()
        if name in _PLANNED or name.startswith(_LOOKUPS)
    }


def bounded(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Each step once, the first six."""
    once: dict[tuple[str, str], Step] = {}
    for step in steps:
        arguments = json.dumps(step.arguments, sort_keys=True, default=str)
        once.setdefault((step.tool, arguments), step)
    return tuple(once.values())[:LIMIT]


def checked(step: Step, tools: Tools) -> Step:
    """Raises StepInvalid."""
    tool = tools.get(step.tool)
    if tool is None:
        raise StepInvalid(f"no tool {step.tool!r}")
    try:
        tool.arguments.model_validate(dict(step.arguments))
    except ValidationError as error:
        raise StepInvalid(f"wrong arguments for {step.tool}") from error
    return step
