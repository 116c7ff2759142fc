"""What the renderer draws, free of GNS3's and Django's types."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TopologyNode:
    node_id: str
    name: str
    node_type: str
    status: str
    x: float = 0
    y: float = 0
    device_type: str = ""


@dataclass(frozen=True)
class TopologyEnd:
    node_id: str
    port: str = ""


@dataclass(frozen=True)
class TopologyLink:
    link_id: str
    ends: tuple[TopologyEnd, ...]
    is_suspended: bool = False


@dataclass(frozen=True)
class TopologyView:
    project_name: str
    nodes: tuple[TopologyNode, ...]
    links: tuple[TopologyLink, ...]
    is_simulated: bool = False
