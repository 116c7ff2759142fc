"""The gate's decision: does the evidence support an answer, and which of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Verdict:
    """`score` is from 0 to 1; `numbers` are those of the passages that support."""

    is_supported: bool
    numbers: tuple[int, ...] = ()
    score: float = 0.0
    # no_evidence, not_covered, nothing_new or deed.
    reason: str = ""
    missing: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "supported": self.is_supported,
            "numbers": list(self.numbers),
            "score": self.score,
            "reason": self.reason,
            "missing": list(self.missing),
        }


# A number would promise more than is known: its calibration is in docs/grounding.md.
_HIGH, _MEDIUM = 0.85, 0.75


def label(score: float, cited: Sequence[Any]) -> str:
    """The confidence as people see it."""
    if not cited:
        return "low"
    if score >= _HIGH:
        return "high"
    return "medium" if score >= _MEDIUM else "low"
