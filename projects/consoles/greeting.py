"""What to type before there is a prompt: logins, dialogs, pagers left open."""

from projects.consoles.dialect import LOGIN, PAGER, PASSWORD, Dialect
from projects.consoles.errors import ConsoleLoginNeeded
from projects.consoles.screen import Screen
from projects.consoles.types import ConsoleTarget


class Greeter:
    def __init__(self, target: ConsoleTarget, dialect: Dialect) -> None:
        self.has_seen_boot = False
        self._target = target
        self._dialect = dialect
        self._has_sent_username = False
        self._has_sent_password = False

    def keys_for(self, screen: Screen) -> str | None:
        """What the unfinished line asks for; None if it is no greeting."""
        self.note_boot(screen)
        tail = screen.tail
        if PAGER.search(tail):
            return "q"
        if LOGIN.search(tail):
            return self._username_keys()
        if PASSWORD.search(tail):
            return self._password_keys()
        return self._dialect.greeting_answer(tail)

    def note_boot(self, screen: Screen) -> None:
        if self._dialect.is_booting([*screen.lines, screen.tail]):
            self.has_seen_boot = True

    def _username_keys(self) -> str:
        if not self._target.username or self._has_sent_username:
            raise self._login_needed("a user name")
        self._has_sent_username = True
        return f"{self._target.username}\r"

    def _password_keys(self) -> str:
        # Only once: what asks again may be another device, behind the first one.
        if not self._target.password or self._has_sent_password:
            raise self._login_needed("a password")
        self._has_sent_password = True
        return f"{self._target.password}\r"

    def _login_needed(self, what: str) -> ConsoleLoginNeeded:
        again = " again" if self._has_sent_username or self._has_sent_password else ""
        return ConsoleLoginNeeded(
            f"The console of {self._target} asks{again} for {what}. Log in there by "
            "hand once, or give the node a user name and a password."
        )
