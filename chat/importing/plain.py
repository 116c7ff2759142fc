"""Values of foreign files, as any of our databases can store them."""

import json
import math
from datetime import UTC, datetime
from typing import Any

LARGEST = 2**63 - 1
_DEEPEST = 200


def storable_text(text: str) -> str:
    """PostgreSQL stores no NUL, and nothing stores half a character."""
    return (
        text.replace("\0", "\ufffd")
        .encode(errors="surrogatepass")
        .decode("utf-8", "replace")
    )


def storable(value: Any, depth: int = 0) -> Any:
    """JSON that PostgreSQL takes too: no NUL, no NaN, no infinity."""
    if depth > _DEEPEST:
        return None
    match value:
        case str():
            return storable_text(value)
        case bool() | int() | None:
            return value
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {
                storable_text(str(key)): storable(item, depth + 1)
                for key, item in value.items()
            }
        case list() | tuple():
            return [storable(item, depth + 1) for item in value]
        case _:
            return storable_text(str(value))


def json_object(text: Any) -> dict[str, Any]:
    """The object in a column of JSON text; empty where there is none."""
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return {}
    return storable(found) if isinstance(found, dict) else {}


def count(value: Any) -> int:
    """A counter of the source; 0 where it is none."""
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return min(max(value, 0), LARGEST)


def tokens(value: Any) -> int | None:
    """As `count`, but unknown stays unknown."""
    return None if value is None else count(value)


def moment(value: Any) -> datetime | None:
    """A time of the source, which writes UTC with and without saying so."""
    try:
        match value:
            case bool():
                return None
            case int() | float():
                return datetime.fromtimestamp(value, UTC)
            case str():
                found = datetime.fromisoformat(value)
            case _:
                return None
        zoned = found if found.tzinfo else found.replace(tzinfo=UTC)
        return zoned.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None
