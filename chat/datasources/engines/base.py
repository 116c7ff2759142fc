"""What every engine can do. Plain Python, in threads."""

from dataclasses import dataclass
from typing import Protocol

from chat.datasources.address import Address
from chat.datasources.cells import Collector, Limits
from chat.datasources.guard import Checked
from chat.datasources.tables import Allowed, Catalogue
from chat.datasources.threads import Cancel


@dataclass(frozen=True)
class Target:
    """A source's row, turned into what an engine works with.

    `key` changes with the row: other connections, another catalogue.
    """

    key: str
    address: Address
    allowed: Allowed
    limits: Limits


class Engine(Protocol):
    def catalogue(self, target: Target) -> Catalogue:
        """The tables that may be read. Raises SourceRefused, SourceUnavailable."""

    def read(self, target: Target, query: Checked, cancel: Cancel) -> Collector:
        """The rows. Raises QueryFailed, SourceRefused, SourceUnavailable."""

    def warnings(self, target: Target) -> list[str]:
        """What an operator should mend; empty where all is well."""
