"""JSON as its standard has it: Python's own reader forgives more."""

import json
from typing import Any


def read_strictly(text: str) -> Any:
    """Raises ValueError (for NaN and a key that stands twice too), RecursionError."""
    return json.loads(text, parse_constant=_refuse, object_pairs_hook=_unique)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found
