"""Two kinds of error: anticipated ones, safe to show, and the rest, bugs."""

from typing import ClassVar


class UserFacingError(Exception):
    """Anticipated: its message may be shown to a person and to a model."""

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 400


class NotFound(UserFacingError):
    """The object does not exist, or not for this person."""

    code = "not_found"
    status = 404


class Conflict(UserFacingError):
    """The request is right, but not in the present state."""

    code = "conflict"
    status = 409


class Unavailable(UserFacingError):
    """A part of the product does not answer; trying again later may work."""

    code = "unavailable"
    status = 503
