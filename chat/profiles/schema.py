"""The JSON schema of profiles, which also says which tools there may be."""

import functools
import json
from collections.abc import Mapping
from typing import Any

from django.conf import settings


@functools.cache
def schema() -> Mapping[str, Any]:
    path = settings.BASE_DIR / "profiles" / "schema.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


@functools.cache
def known_tools() -> tuple[str, ...]:
    """All that a profile may name; a site may lack some, they are not offered then."""
    return tuple(schema()["properties"]["tools"]["properties"])
