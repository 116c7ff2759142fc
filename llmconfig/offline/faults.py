"""What can be wrong, and what a finding consists of."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from llmconfig.offline.network import Network
from llmconfig.offline.quotes import Quote


class Fault(StrEnum):
    WRONG_GATEWAY = "wrong_gateway"
    MISSING_GATEWAY = "missing_gateway"
    WRONG_MASK = "wrong_mask"
    WRONG_SUBNET = "wrong_subnet"
    DUPLICATE_ADDRESS = "duplicate_address"
    INTERFACE_DOWN = "interface_down"
    WRONG_INTERFACE_ADDRESS = "wrong_interface_address"
    MISSING_ROUTE = "missing_route"
    WRONG_NEXT_HOP = "wrong_next_hop"
    MISSING_RETURN_ROUTE = "missing_return_route"
    ACL_BLOCKS = "acl_blocks"
    NODE_STOPPED = "node_stopped"
    LINK_SUSPENDED = "link_suspended"
    LINK_MISSING = "link_missing"
    NO_INTERFACE_ADDRESS = "no_interface_address"
    UNNUMBERED = "unnumbered"
    NO_ADDRESS = "no_address"
    NOT_CABLED = "not_cabled"
    UNREADABLE = "unreadable"
    UNEXPLAINED = "unexplained"


@dataclass(frozen=True)
class Fix:
    """Commands for one device, or an action on the lab when there are none."""

    device: str
    commands: tuple[str, ...] = ()
    action: str = ""


@dataclass(frozen=True)
class Finding:
    """One fault with the lines that show it and what to change."""

    fault: Fault
    device: str
    facts: Mapping[str, str]
    quotes: tuple[Quote, ...]
    fix: Fix | None = None
    # Explains the same evidence as well: the consoles cannot tell which is meant.
    alternative: "Finding | None" = None


@dataclass(frozen=True)
class Repair:
    """A change tried on a copy of the network; lower rank is the likelier one."""

    finding: Finding
    network: Network
    rank: int = 0
