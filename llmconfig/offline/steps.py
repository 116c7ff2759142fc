"""What the model does next: call tools, or answer."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llmconfig.offline.evidence import Evidence
from llmconfig.offline.phrases import say
from llmconfig.offline.question import Question

MAX_ROUNDS = 6
# The line above what a device printed: its prompt and the command.
_QUOTED = re.compile(r"^(\S[^>#:\n]*)[>#:] (\S[^\n]*)$", re.MULTILINE)


@dataclass(frozen=True)
class Call:
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Calls:
    """Tool calls that don't depend on one another."""

    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Answer:
    text: str


Step = Calls | Answer


@dataclass(frozen=True)
class Turn:
    """One question, what was read for it so far, and the tools there are."""

    question: Question
    evidence: Evidence
    tools: frozenset[str]

    def say(self, key: str, facts: Mapping[str, str] | None = None) -> str:
        return say(self.question.language, key, facts)

    @property
    def names(self) -> list[str]:
        return [str(node.get("name", "")) for node in self.evidence.nodes()]

    @property
    def listing(self) -> str:
        return ", ".join(self.names) or "–"

    @property
    def is_simulated(self) -> bool:
        return (self.evidence.topology or {}).get("lab") == "simulated"

    def plain(self, headline: str, *parts: str) -> Answer:
        """An answer that rests on no console output."""
        return self.answer(headline, *parts, closing="disclosure.plain")

    def answer(self, headline: str, *parts: str, closing: str = "disclosure") -> Answer:
        is_chinese = self.question.language == "zh"
        stop, gap = ("。", "") if is_chinese else (".", " ")
        last = self.say(closing)
        if self.is_simulated:
            last = f"{last}{gap}{self.say('simulated')}"
        head = f"**{headline.rstrip('.。')}{stop}**" if headline else ""
        shown = [self._with_marks(part) for part in parts]
        blocks = [head, *shown, f"*{last}*"]
        return Answer("\n\n".join(block for block in blocks if block))

    def _with_marks(self, part: str) -> str:
        """Quoted lines, and below them where they are cited."""
        heads = _QUOTED.findall(part) if part.startswith("```") else []
        marks = [self.evidence.mark(device, command) for device, command in heads]
        marks = [mark for mark in dict.fromkeys(marks) if mark]
        if not marks:
            return part
        return f"{part}\n\n{self.say('evidence')} {''.join(marks)}"

    def call(self, *calls: Call) -> Step:
        """These calls, unless a tool is missing or the round limit is reached."""
        for wanted in calls:
            if wanted.tool not in self.tools:
                facts = {"tool": wanted.tool}
                return self.plain(self.say("tool_missing", facts))
        if self.evidence.rounds >= MAX_ROUNDS:
            facts = {"count": str(self.evidence.rounds)}
            return self.plain(self.say("too_many_steps", facts))
        return Calls(calls)

    def read_topology(self) -> Step | None:
        """The step that reads the topology; None when it has been read."""
        if self.evidence.topology is not None:
            return None
        tried = self.evidence.of("read_topology")
        if tried:
            return self.failed("read_topology", tried[-1].error)
        return self.call(Call("read_topology"))

    def failed(self, tool: str, error: str) -> Answer:
        facts = {"tool": tool, "error": error or "?"}
        return self.plain(self.say("tool_failed", facts))


def command_calls(
    wanted: Sequence[tuple[str, Sequence[str]]], *, size: int = 50
) -> tuple[Call, ...]:
    """run_commands for these devices, at most `size` of them a call."""
    return tuple(
        Call(
            "run_commands",
            {
                "devices": [
                    {"device": name, "commands": list(commands)}
                    for name, commands in wanted[start : start + size]
                ]
            },
        )
        for start in range(0, len(wanted), size)
    )
