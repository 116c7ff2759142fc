"""A console to talk to, and what a command on it gave."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class ConsoleTarget:
    name: str
    host: str
    port: int
    dialect: str
    username: str = ""
    password: str = field(default="", repr=False)

    def __str__(self) -> str:
        return f"{self.name} ({self.address})"

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True)
class CommandResult:
    command: str
    output: str
    is_truncated: bool
    error: str
    elapsed: float
