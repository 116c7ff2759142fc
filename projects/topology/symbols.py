"""Which symbol stands for a device; the drawings are 32 px squares."""

from projects.topology.view import TopologyNode

_KIND_OF_TYPE = {
    "vpcs": "pc",
    "traceng": "pc",
    "ethernet_switch": "switch",
    "frame_relay_switch": "switch",
    "atm_switch": "switch",
    "ethernet_hub": "hub",
    "cloud": "cloud",
    "nat": "cloud",
    "dynamips": "router",
    "iou": "router",
}
# Emulated images say what they are only by the words of their template.
_KIND_OF_WORD = {
    "firewall": "firewall",
    "switch": "switch",
    "router": "router",
    "guest": "server",
    "server": "server",
}
WORD = {
    "pc": "PC",
    "switch": "switch",
    "hub": "hub",
    "cloud": "cloud",
    "router": "router",
    "firewall": "firewall",
    "server": "server",
}
DRAWING = {
    "router": (
        '<circle cx="16" cy="16" r="12.5"/><path d="M16 6.5v6M13.7 8.8 16 6.5l2.3 2.3'
        "M16 25.5v-6M13.7 23.2 16 25.5l2.3-2.3M12.5 16h-6M10.2 13.7l2.3 2.3-2.3 2.3"
        'M19.5 16h6M21.8 13.7 19.5 16l2.3 2.3"/>'
    ),
    "switch": (
        '<rect x="3.5" y="7.5" width="25" height="17" rx="3"/><path d="M8 13h10'
        'M15.5 10.7 18 13l-2.5 2.3M24 19H14M16.5 16.7 14 19l2.5 2.3"/>'
    ),
    "hub": (
        '<rect x="3.5" y="9.5" width="25" height="13" rx="3"/>'
        '<path d="M9 16h.01M13.7 16h.01M18.3 16h.01M23 16h.01"/>'
    ),
    "pc": (
        '<rect x="4.5" y="5.5" width="23" height="15.5" rx="2.5"/>'
        '<path d="M12 26.5h8M16 21v5.5"/>'
    ),
    "cloud": (
        '<path d="M9.5 24.5a5.5 5.5 0 0 1-.6-11 7.6 7.6 0 0 1 14.6-1.2 6.2 6.2 0 0 1'
        '-.7 12.2z"/>'
    ),
    "firewall": (
        '<rect x="4.5" y="5.5" width="23" height="21" rx="2"/><path d="M4.5 12.5h23'
        'M4.5 19.5h23M12 5.5v7M20 5.5v7M16 12.5v7M12 19.5v7M20 19.5v7"/>'
    ),
    "server": (
        '<rect x="6.5" y="4.5" width="19" height="10" rx="2"/>'
        '<rect x="6.5" y="17.5" width="19" height="10" rx="2"/>'
        '<path d="M10.5 9.5h.01M10.5 22.5h.01M15 9.5h7M15 22.5h7"/>'
    ),
}


def kind_of(node: TopologyNode) -> str:
    """The symbol's name: router, switch, hub, pc, cloud, firewall or server."""
    by_type = _KIND_OF_TYPE.get(node.node_type)
    words = node.device_type.lower()
    by_word = next((k for word, k in _KIND_OF_WORD.items() if word in words), None)
    if node.node_type in ("iou", "dynamips"):
        return by_word or "router"
    return by_type or by_word or "server"
