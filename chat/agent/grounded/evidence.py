"""What the steps have found: passages each once, facts apart, failures left out."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Trace = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Found:
    """`citations` may be cited; `facts` are context and never are.

    `similarity` of meaning is by number, where the search knows it.
    """

    citations: tuple[dict[str, Any], ...]
    facts: tuple[str, ...]
    similarity: Mapping[int, float]


def entry(
    index: int,
    tool: str,
    arguments: Mapping[str, Any],
    output: str,
    *,
    is_error: bool,
    evidence: Mapping[str, Any],
) -> dict[str, Any]:
    """One finished step, as the graph's state holds it."""
    return {
        "index": index,
        "tool": tool,
        "arguments": dict(arguments),
        "error": error_of(output) if is_error else None,
        "evidence": {} if is_error else dict(evidence),
    }


def error_of(output: str) -> str:
    """What a failed tool said, out of its JSON."""
    try:
        value = json.loads(output)
    except ValueError:
        return output
    return (
        str(value["error"]) if isinstance(value, dict) and "error" in value else output
    )


def collect(trace: Trace) -> Found:
    """Over all steps that went well, in their order."""
    citations: dict[str, dict[str, Any]] = {}
    facts: dict[str, None] = {}
    similarity: dict[int, float] = {}
    for step in trace:
        if step["error"] is not None:
            continue
        for citation in step["evidence"].get("passages", ()):
            citations.setdefault(citation["id"], dict(citation))
        facts.update(dict.fromkeys(step["evidence"].get("facts", ())))
        for number, value in step["evidence"].get("similarity", {}).items():
            similarity[int(number)] = max(value, similarity.get(int(number), 0.0))
    return Found(tuple(citations.values()), tuple(facts), similarity)


def tools_behind(trace: Trace, cited: Sequence[Mapping[str, Any]]) -> list[str]:
    """The tools that found what is cited, in the order of the steps."""
    wanted = {citation["id"] for citation in cited}
    return list(
        dict.fromkeys(
            step["tool"]
            for step in trace
            if step["error"] is None
            and wanted.intersection(
                citation["id"] for citation in step["evidence"].get("passages", ())
            )
        )
    )
