"""Case files: what a provider does, and what has to come of it. See cases/README.md."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.providers.replay import Answer, Step, event, reason, text

FOLDER = Path(__file__).parent / "cases"


@dataclass
class Case:
    """One file."""

    title: str
    report: str
    provider: str
    answers: list[Answer]
    expect: dict[str, Any]
    loop: dict[str, Any] | None = None
    model: dict[str, Any] = field(default_factory=dict)
    # What the request after the answer holds, as text of its JSON.
    next_request_holds: list[str] = field(default_factory=list)


def load(path: Path) -> Case:
    fields = yaml.safe_load(path.read_text(encoding="utf-8"))
    answers = fields.pop("answers", None) or [fields.pop("answer")]
    return Case(answers=[_answer(answer) for answer in answers], **fields)


def _answer(fields: dict[str, Any]) -> Answer:
    newline = fields.pop("newline", "\n")
    steps: list[Step] = []
    for step in fields.pop("stream", []):
        steps += _steps(step, newline)
    if "body" in fields:
        body = fields.pop("body")
        steps = [body.encode() if isinstance(body, str) else json.dumps(body).encode()]
    return Answer(steps, **fields)


def _steps(step: Any, newline: str) -> list[Step]:
    if not isinstance(step, dict):
        step = {step: None}
    result: list[Step] = []
    for kind, value in step.items():
        match kind:
            case "DONE":
                result.append(f"data: [DONE]{newline}{newline}".encode())
            case "stall" | "reset":
                result.append(kind)
            case "repeat":
                times, repeated = value
                result += _steps(repeated, newline) * times
            case "pause":
                result.append(float(value))
            case "raw":
                result.append(value.encode())
            case "hex":
                result.append(bytes.fromhex(value))
            case "chunk":
                result.append(event(value, newline))
            case "text":
                result.append(text(value))
            case "reason":
                result.append(reason(value))
            case "delta":
                result.append(event({"choices": [{"delta": value}]}, newline))
            case "calls":
                result.append(
                    event({"choices": [{"delta": {"tool_calls": value}}]}, newline)
                )
            case "usage":
                read, written = value
                usage = {"prompt_tokens": read, "completion_tokens": written}
                result.append(event({"choices": [], "usage": usage}, newline))
            case _:
                raise ValueError(f"unknown step {kind}")
    return result
