"""Finds a prompt that is surely live: a device may replay old ones on connecting."""

import asyncio
import secrets

from projects.consoles.connection import Console
from projects.consoles.dialect import Dialect
from projects.consoles.errors import ConsoleBooting, ConsoleBusy, ConsoleSilent
from projects.consoles.greeting import Greeter
from projects.consoles.types import ConsoleTarget

# How long nothing may come before the screen is taken as complete.
SETTLE = 0.05
DRAIN_QUIET = 0.25
DRAIN_LIMIT = 3.0
WAKE_LIMIT = 1.0
# As long as VPCS checks for a duplicate address.
MARKER_LIMIT = 3.0
SILENCE_LIMIT = 8.0
PROMPT_LIMIT = 15.0
# A router that unpacks its system says nothing for long.
BOOT_SILENCE_LIMIT = 30.0


class Synchroniser:
    def __init__(
        self, target: ConsoleTarget, dialect: Dialect, console: Console
    ) -> None:
        self._target = target
        self._dialect = dialect
        self._console = console
        self._screen = console.screen
        self._greeter = Greeter(target, dialect)

    async def drain(self) -> None:
        await self._console.read_until_quiet(DRAIN_QUIET, DRAIN_LIMIT)

    async def find_prompt(self) -> str:
        """The prompt, after the device has answered a marker; bounded in time."""
        clock = asyncio.get_running_loop().time
        started = last_heard = clock()
        while True:
            received = self._console.received
            if await self._attempt():
                return self._screen.tail
            if self._console.received != received:
                last_heard = clock()
            self._give_up_if_hopeless(clock() - started, clock() - last_heard)

    def _give_up_if_hopeless(self, waited: float, silent: float) -> None:
        if self._greeter.has_seen_boot:
            if silent > BOOT_SILENCE_LIMIT:
                raise self.still_booting()
        elif silent > SILENCE_LIMIT:
            raise ConsoleSilent(
                f"The console of {self._target} accepts connections but does not "
                "answer. Stop and start the node, or reset its console in GNS3."
            )
        elif waited > PROMPT_LIMIT:
            raise self._busy()

    def out_of_time(self) -> ConsoleBooting | ConsoleBusy:
        """Why there is no prompt when the caller's time is over."""
        self._greeter.note_boot(self._screen)
        return self.still_booting() if self._greeter.has_seen_boot else self._busy()

    def still_booting(self) -> ConsoleBooting:
        return ConsoleBooting(
            f"{self._target} is still booting. Try again in a minute."
        )

    def _busy(self) -> ConsoleBusy:
        return ConsoleBusy(
            f"The console of {self._target} is busy: someone else types there, or a "
            "command runs. Try again when it has ended."
        )

    async def _attempt(self) -> bool:
        keys = self._greeter.keys_for(self._screen)
        if keys is not None:
            self._screen.start()
            self._screen.drop_tail()
            self._console.send(keys)
            await self.drain()
            return False
        if self._dialect.is_prompt(self._screen.tail):
            return await self._try_marker()
        # A second client of a console is shown nothing until it presses Return.
        self._screen.start()
        self._console.send(f"{self._dialect.erase}\r")
        await self._console.read(WAKE_LIMIT)
        await self.drain()
        return False

    async def _try_marker(self) -> bool:
        clock = asyncio.get_running_loop().time
        marker = f"sync{secrets.token_hex(4)}"
        command = self._dialect.marker_command(marker)
        self._screen.start()
        self._console.send(f"{self._dialect.erase}{command}\r")
        deadline = clock() + MARKER_LIMIT
        while (left := deadline - clock()) > 0:
            is_back = self._dialect.has_marker(self._screen.recent, marker)
            is_back = is_back and self._dialect.is_prompt(self._screen.tail)
            if await self._console.read(min(left, SETTLE) if is_back else left):
                continue
            if is_back:
                return True
        return False
