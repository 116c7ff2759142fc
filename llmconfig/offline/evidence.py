"""What the tool results of one question say, by device and command."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.utils.json import parse_partial_json

from llmconfig.offline.quotes import Quote

TOPOLOGY_COMMAND = "read_topology"
# Results that are too long end in this; see the tools.
_CUT_NOTE = "\n… cut:"
_CLOSED = re.compile(r'(?:true|false|"|\])\}')
_FLAT_OBJECT = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True)
class ToolResult:
    """One finished tool call."""

    tool: str
    arguments: Mapping[str, Any]
    text: str
    data: Mapping[str, Any]
    is_error: bool

    @property
    def error(self) -> str:
        """What the tool says went wrong; empty when nothing did."""
        if self.is_error:
            return str(self.data.get("error") or self.data.get("message") or self.text)
        return str(self.data.get("error") or "")


@dataclass
class Evidence:
    results: list[ToolResult] = field(default_factory=list)
    rounds: int = 0

    def of(self, tool: str) -> list[ToolResult]:
        return [result for result in self.results if result.tool == tool]

    @property
    def topology(self) -> Mapping[str, Any] | None:
        """The newest topology that could be read."""
        return next(
            (r.data for r in reversed(self.of(TOPOLOGY_COMMAND)) if "nodes" in r.data),
            None,
        )

    def nodes(self) -> list[Mapping[str, Any]]:
        return list(_objects(self.topology or {}, "nodes"))

    def links(self) -> list[Mapping[str, Any]]:
        return list(_objects(self.topology or {}, "links"))

    def device_results(self) -> Iterator[Mapping[str, Any]]:
        for result in self.of("run_commands"):
            yield from _objects(result.data, "devices")

    def output(self, device: str, command: str) -> str | None:
        """The newest output of a command; None when it was not read."""
        found = None
        for entry in self.device_results():
            if entry.get("device") != device:
                continue
            for item in _objects(entry, "commands"):
                if item.get("command") == command and isinstance(
                    item.get("output"), str
                ):
                    found = str(item["output"])
        return found

    def mark(self, device: str, command: str) -> str:
        """Where the newest output of a command is cited, such as `[3]`; or nothing."""
        found = ""
        for entry in self.device_results():
            if entry.get("device") == device:
                for item in _objects(entry, "commands"):
                    if item.get("command") == command:
                        found = str(item.get("cite") or "")
        return found

    def problem(self, device: str) -> str:
        """Why a device could not be read, in the tool's words."""
        found = ""
        for entry in self.device_results():
            if entry.get("device") == device:
                found = str(entry.get("error") or "")
        if found:
            return found
        asked = [r for r in self.of("run_commands") if r.error and names(r, device)]
        return asked[-1].error if asked else ""

    def was_asked(self, device: str, command: str) -> bool:
        return any(
            entry.get("device") == device and command in (entry.get("commands") or [])
            for result in self.of("run_commands")
            for entry in _objects(result.arguments, "devices")
        )

    def lines_of(self, device: str) -> list[str]:
        """What was typed there last: a person may have edited what was asked for."""
        found: list[str] = []
        for result in self.of("run_commands"):
            for entry in _objects(result.arguments, "devices"):
                if entry.get("device") == device:
                    found = [str(line) for line in entry.get("commands") or []]
        return found

    @property
    def rejected(self) -> ToolResult | None:
        """The call that a person did not allow."""
        return next((r for r in self.results if r.data.get("rejected")), None)

    def topology_quote(self, wanted: Mapping[str, Any]) -> Quote | None:
        """The part of the topology that says this, exactly as the tool wrote it."""
        for result in reversed(self.of(TOPOLOGY_COMMAND)):
            for found in _FLAT_OBJECT.finditer(result.text):
                if _says(found[0], wanted):
                    return Quote("", TOPOLOGY_COMMAND, _shorten(found[0], wanted))
        return None


def names(result: ToolResult, device: str) -> bool:
    entries = _objects(result.arguments, "devices")
    return any(entry.get("device") == device for entry in entries)


def _says(text: str, wanted: Mapping[str, Any]) -> bool:
    try:
        data = json.loads(text)
    except ValueError:
        return False
    return all(data.get(key) == value for key, value in wanted.items())


def _shorten(text: str, wanted: Mapping[str, Any]) -> str:
    """Up to the last wanted field: the ports of a router fill lines."""
    end = max(text.find(f'"{key}"') for key in wanted)
    comma = text.find(",", end)
    return text if comma < 0 or len(text) <= 160 else text[:comma]


def _objects(data: Mapping[str, Any], key: str) -> Iterator[Mapping[str, Any]]:
    value = data.get(key)
    for item in value if isinstance(value, list) else []:
        if isinstance(item, Mapping):
            yield item


def collect(messages: Sequence[BaseMessage]) -> Evidence:
    """Pairs the tool calls in these messages with their results."""
    evidence = Evidence()
    calls: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for message in messages:
        if isinstance(message, AIMessage) and message.tool_calls:
            evidence.rounds += 1
            for call in message.tool_calls:
                calls[str(call["id"])] = (call["name"], call["args"])
        elif isinstance(message, ToolMessage):
            tool, arguments = calls.get(message.tool_call_id, (message.name or "", {}))
            evidence.results.append(_result(tool, arguments, message))
    return evidence


def _result(
    tool: str, arguments: Mapping[str, Any], message: ToolMessage
) -> ToolResult:
    data = _parse(message.text)
    is_error = message.status == "error" or not data
    return ToolResult(tool, arguments, message.text, data, is_error)


def _parse(text: str) -> Mapping[str, Any]:
    """The JSON object of a result; of one that was cut, what is whole."""
    try:
        data = json.loads(text)
    except ValueError:
        note = text.rfind(_CUT_NOTE)
        # Up to the last object that is closed: half a line would be half a truth.
        closed = [found.end() for found in _CLOSED.finditer(text, 0, max(note, 0))]
        if not closed:
            return {}
        try:
            data = parse_partial_json(text[: closed[-1]])
        except ValueError:
            return {}
    return data if isinstance(data, dict) else {}
