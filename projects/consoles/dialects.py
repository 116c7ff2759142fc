"""Which dialect a node speaks."""

from projects.consoles.dialect import Dialect
from projects.consoles.errors import ConsoleUnsupported
from projects.consoles.ios import Ios
from projects.consoles.types import ConsoleTarget
from projects.consoles.vpcs import Vpcs

DIALECTS: dict[str, Dialect] = {"vpcs": Vpcs(), "ios": Ios()}

NODE_TYPES = {"vpcs": "vpcs", "dynamips": "ios", "iou": "ios"}
DEVICE_TYPES = {
    "vpcs": "vpcs",
    "gns3_vpcs": "vpcs",
    "ios": "ios",
    "cisco": "ios",
    "cisco_ios": "ios",
    "cisco_iosxe": "ios",
    "cisco_xe": "ios",
}


def dialect_for(node_type: str, device_type: str) -> str | None:
    """The device type decides when there is one: it is what a person entered."""
    if device_type:
        return DEVICE_TYPES.get(device_type.lower().removesuffix("_telnet"))
    return NODE_TYPES.get(node_type)


def target_for(
    *,
    name: str,
    node_type: str,
    device_type: str,
    console_type: str,
    host: str,
    port: int | None,
) -> ConsoleTarget:
    """The console of a node, or an error that says why it has none we can use."""
    if console_type != "telnet" or port is None:
        raise ConsoleUnsupported(
            f"{name} ({node_type}) has no telnet console, so no command can be run."
        )
    dialect = dialect_for(node_type, device_type)
    if dialect is None:
        kind = f"device type {device_type!r}" if device_type else "no device type"
        allowed = ", ".join(sorted(DEVICE_TYPES))
        raise ConsoleUnsupported(
            f"{name} ({node_type}) has {kind}, whose commands are not known here. "
            f"Allowed are: {allowed}. Set it in GNS3: the node's device type, "
            "or its tag device_type:<type>."
        )
    return ConsoleTarget(name, host, port, dialect)
