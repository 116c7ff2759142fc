"""What can go wrong on a console, naming the device and its address.

ConsoleError
├── ConsoleUnsupported   no dialect for this kind of node
├── ConsoleRefused       nothing listens, or it can't be reached
├── ConsoleClosed        the other side hung up
├── ConsoleSilent        it accepts the connection and says nothing
├── ConsoleBooting       the device is not up yet
├── ConsoleBusy          someone else uses the console
├── ConsoleLoginNeeded   it asks for a user name or a password we can't give
└── ConsoleTimeout       a command did not end in time
"""

from collections.abc import Sequence

from copilot_site.lib.errors import UserFacingError
from projects.consoles.types import CommandResult


class ConsoleError(UserFacingError):
    """Any failure on a console; `results` holds what was done before it."""

    code = "console_error"
    status = 502

    def __init__(self, message: str, results: Sequence[CommandResult] = ()) -> None:
        super().__init__(message)
        self.results = list(results)


class ConsoleUnsupported(ConsoleError):
    """No dialect for this kind of node."""

    code = "console_unsupported"
    status = 400


class ConsoleRefused(ConsoleError):
    """Nothing listens there, or it can't be reached from here."""

    code = "console_refused"


class ConsoleClosed(ConsoleError):
    """The other side hung up."""

    code = "console_closed"


class ConsoleSilent(ConsoleError):
    """It accepts the connection and says nothing."""

    code = "console_silent"


class ConsoleBooting(ConsoleError):
    """The device is not up yet."""

    code = "console_booting"
    status = 409


class ConsoleBusy(ConsoleError):
    """Someone else uses the console."""

    code = "console_busy"
    status = 409


class ConsoleLoginNeeded(ConsoleError):
    """It asks for a user name or a password that we can't give."""

    code = "console_login_needed"


class ConsoleTimeout(ConsoleError):
    """A command did not end in time."""

    code = "console_timeout"
    status = 504
