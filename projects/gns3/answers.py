"""Turns what a GNS3 server answers into values or into errors that may be shown.

The server's own texts hold paths and logs, so none of them is passed on.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import httpx

from projects.gns3.errors import (
    Gns3BadAnswer,
    Gns3Conflict,
    Gns3Error,
    Gns3Forbidden,
    Gns3NotFound,
    Gns3ProjectNotOpened,
    Gns3Unreachable,
)

T = TypeVar("T")

PRIVILEGE = re.compile(r"privilege ([A-Za-z]+\.[A-Za-z]+) is required")

# What the server says in a 409, and what we say.
CONFLICTS = (
    (r"already powered on", "Stop the node first."),
    (r'^Project ".*" already exists', "Choose a name that no project has."),
    (r"Could not find Dynamips", "The GNS3 server has no Dynamips installed."),
    (r"uBridge", "uBridge does not work on the GNS3 server; see the server's log."),
    (r"(binary|executable|image).*(not found|missing|not available)", "The GNS3 server"
     " lacks a program or an image that this kind of node needs."),
    (r"locked", "It is locked in GNS3; unlock it first."),
)  # fmt: skip


def parse(build: Callable[[Mapping[str, Any]], T], data: object) -> T:
    """Build a value from an answer, or say that the answer makes no sense."""
    try:
        if isinstance(data, dict):
            return build(data)
    except (KeyError, TypeError, ValueError) as exc:
        raise unexpected() from exc
    raise unexpected()


def parse_list(build: Callable[[Mapping[str, Any]], T], data: object) -> list[T]:
    if not isinstance(data, list):
        raise unexpected()
    return [parse(build, item) for item in data]


def unexpected() -> Gns3BadAnswer:
    return Gns3BadAnswer(
        "The GNS3 server's answer lacks what a GNS3 3.x server sends. "
        "Check that the address is that of a GNS3 server."
    )


def read_json(response: httpx.Response, where: str) -> object:
    """The body of a successful answer; nothing for an empty one."""
    if response.status_code == httpx.codes.NO_CONTENT or not response.content:
        return None
    try:
        body: object = response.json()
    except ValueError as exc:
        raise not_gns3(where) from exc
    return body


def not_gns3(where: str) -> Gns3BadAnswer:
    return Gns3BadAnswer(
        f"{where} answers, but not as a GNS3 server does. Check address and port."
    )


def server_message(response: httpx.Response) -> str | None:
    """The text GNS3 puts into its errors; None when the answer is not GNS3's."""
    try:
        body = response.json()
    except ValueError:
        return None
    message = body.get("message") if isinstance(body, dict) else None
    return message if isinstance(message, str) else None


def error_for(response: httpx.Response, action: str, where: str) -> Gns3Error:
    """The error for an answer that is neither success nor 401."""
    status = response.status_code
    message = server_message(response)
    if status in (408, 502, 503, 504):
        return Gns3Unreachable(
            f"The GNS3 server at {where} is not available now. Try again in a minute."
        )
    if status == 500:
        return Gns3BadAnswer(
            f"The GNS3 server failed to {action}: internal error. See its log."
        )
    if message is None:
        return not_gns3(where)
    if status == 403:
        return _forbidden(message, action)
    if status == 404:
        return Gns3NotFound(
            f"GNS3 could not {action}: it does not exist there (any more). "
            "Read the project again."
        )
    if status == 409:
        return _conflict(message, action)
    return Gns3BadAnswer(f"GNS3 did not accept the request to {action} ({status}).")


def _forbidden(message: str, action: str) -> Gns3Error:
    if "not opened" in message:
        return Gns3ProjectNotOpened("The project is closed in GNS3. Open it first.")
    privilege = PRIVILEGE.search(message)
    missing = f" It lacks the privilege {privilege[1]}." if privilege else ""
    return Gns3Forbidden(
        f"This GNS3 account may not {action}.{missing} Ask the GNS3 administrator."
    )


def _conflict(message: str, action: str) -> Gns3Conflict:
    for pattern, advice in CONFLICTS:
        if re.search(pattern, message, re.IGNORECASE | re.DOTALL):
            return Gns3Conflict(f"GNS3 could not {action}. {advice}")
    return Gns3Conflict(
        f"GNS3 could not {action}: that does not fit the present state of the lab. "
        "Read the topology again, then try once more."
    )
