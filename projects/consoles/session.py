"""One conversation on an open console: type a command, read to the next prompt."""

import asyncio
from dataclasses import replace

from projects.consoles.connection import Console
from projects.consoles.dialect import PAGER, Dialect
from projects.consoles.errors import ConsoleBusy
from projects.consoles.synchronise import SETTLE, Synchroniser
from projects.consoles.types import CommandResult, ConsoleTarget

# A prompt of another form than the last one, or a question, may be mere output.
SETTLE_UNFAMILIAR = 0.5
SETTLE_QUESTION = 1.0
LISTEN = 5.0
INTERRUPT_LIMIT = 0.8
# The echo of a longer line may be scrolled by the device.
LONGEST_CHECKED_ECHO = 200


class Session:
    def __init__(
        self, target: ConsoleTarget, dialect: Dialect, console: Console
    ) -> None:
        self.synchroniser = Synchroniser(target, dialect, console)
        self._target = target
        self._dialect = dialect
        self._console = console
        self._screen = console.screen
        self._prompt = ""
        self._is_in_step = False

    async def open(self) -> None:
        """Get a prompt that is surely live, and make the session ready."""
        await self.synchroniser.drain()
        await self._get_in_step()
        for command in self._dialect.preparation(self._prompt):
            await self._get_in_step()
            await self._type(command)

    async def run(self, command: str) -> CommandResult:
        await self._get_in_step()
        prompt, clock = self._prompt, asyncio.get_running_loop().time
        started = clock()
        declined = await self._type(command)
        lines, is_clean = self._output(prompt)
        self._is_in_step = is_clean and not declined
        result = CommandResult(
            command=command,
            output="\n".join(lines).strip("\n"),
            is_truncated=self._screen.is_truncated,
            error=declined or self._dialect.error_in(lines),
            elapsed=round(clock() - started, 3),
        )
        if not self._is_echo_right(prompt, command):
            raise self._disturbed(result)
        return result

    def partial_output(self) -> str:
        """What the running command has printed up to now."""
        if self._echo_index(self._prompt) is None:
            return ""
        lines, is_clean = self._output(self._prompt)
        tail = [self._screen.tail.rstrip()] if is_clean else []
        return "\n".join([*lines, *tail]).strip("\n")

    async def interrupt(self) -> None:
        """End what runs; GNS3 drops keys that come right before a hang-up, so wait."""
        self._console.send(self._dialect.interrupt)
        await self._console.read_until_quiet(INTERRUPT_LIMIT / 2, INTERRUPT_LIMIT)

    async def leave(self) -> None:
        """Leave the console as the next one expects it."""
        for command in self._dialect.farewell(self._prompt):
            await self._type(command)

    async def _get_in_step(self) -> None:
        # Others may have typed since the last command.
        if not self._is_in_step or self._screen.tail != self._prompt:
            self._prompt = await self.synchroniser.find_prompt()
            self._is_in_step = True

    async def _type(self, command: str) -> str:
        """Type a command and read to the next prompt; says what was not answered."""
        prompt = self._prompt
        self._screen.start()
        self._console.send(self._dialect.keys(command))
        while True:
            tail = self._screen.tail
            if await self._console.read(self._patience(tail)):
                continue
            if PAGER.search(tail):
                self._answer(" ")
            elif self._has_ended(prompt):
                self._prompt = tail if self._dialect.is_prompt(tail) else prompt
                return ""
            elif self._dialect.is_question(tail):
                keys = self._dialect.answer(tail)
                if keys is None:
                    await self.interrupt()
                    return f"The device asked {tail.strip()!r}; nobody answered it."
                self._answer(keys)

    def _patience(self, tail: str) -> float:
        if tail == self._prompt or PAGER.search(tail):
            return SETTLE
        if self._dialect.is_prompt(tail):
            is_own = self._dialect.starts_with_prompt(self._prompt, tail)
            return SETTLE if is_own else SETTLE_UNFAMILIAR
        if self._dialect.is_question(tail):
            return SETTLE_QUESTION
        return LISTEN if tail else SETTLE_UNFAMILIAR

    def _answer(self, keys: str) -> None:
        self._screen.drop_tail()
        self._console.send(keys)

    def _has_ended(self, prompt: str) -> bool:
        if self._echo_index(prompt) is None:
            return False
        if self._dialect.is_prompt(self._screen.tail):
            return True
        # A message of the device may stand below the prompt, which is not repeated.
        recent = self._screen.recent
        heard = [line for line in recent if not self._dialect.is_noise(line)]
        is_bare = len(heard) > 1 and self._is_bare_prompt(prompt, heard[-1])
        return is_bare and not self._screen.tail

    def _is_bare_prompt(self, prompt: str, line: str) -> bool:
        is_own = self._dialect.starts_with_prompt(prompt, line)
        return is_own and self._dialect.is_prompt(line)

    def _echo_index(self, prompt: str) -> int | None:
        """Where the command stands, below whatever came before the device read it."""
        for index, line in enumerate(self._screen.lines):
            is_early = self._dialect.is_noise(line)
            if not is_early and not self._is_bare_prompt(prompt, line):
                return index
        return None

    def _output(self, prompt: str) -> tuple[list[str], bool]:
        """The lines of the command's own output, and whether nothing came after."""
        echo = self._echo_index(prompt)
        lines = [] if echo is None else self._screen.lines[echo + 1 :]
        for index, line in enumerate(lines):
            if self._dialect.starts_with_prompt(prompt, line):
                return lines[:index], False
        return lines, True

    def _is_echo_right(self, prompt: str, command: str) -> bool:
        index = self._echo_index(prompt)
        if index is None or len(command) > LONGEST_CHECKED_ECHO:
            return True
        echo = self._screen.lines[index].strip()
        return echo in (command, f"{prompt}{command}".strip())

    def _disturbed(self, result: CommandResult) -> ConsoleBusy:
        message = (
            f"Someone else typed on the console of {self._target} at the same time, "
            f"so {result.command!r} may not have run as given. Look before you repeat."
        )
        return ConsoleBusy(message, [replace(result, error=message)])
