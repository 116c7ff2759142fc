"""Client for the GNS3 v3 API, plain Python."""

from projects.gns3.client import Gns3Client
from projects.gns3.errors import (
    Gns3AuthFailed,
    Gns3BadAnswer,
    Gns3Conflict,
    Gns3Error,
    Gns3Forbidden,
    Gns3NotFound,
    Gns3ProjectNotOpened,
    Gns3Unreachable,
    Gns3VersionUnsupported,
)
from projects.gns3.types import (
    Gns3Link,
    Gns3LinkEnd,
    Gns3Node,
    Gns3Port,
    Gns3Project,
    Gns3Template,
    Gns3Topology,
    Gns3User,
    Gns3Version,
)

__all__ = [
    "Gns3AuthFailed",
    "Gns3BadAnswer",
    "Gns3Client",
    "Gns3Conflict",
    "Gns3Error",
    "Gns3Forbidden",
    "Gns3Link",
    "Gns3LinkEnd",
    "Gns3Node",
    "Gns3NotFound",
    "Gns3Port",
    "Gns3Project",
    "Gns3ProjectNotOpened",
    "Gns3Template",
    "Gns3Topology",
    "Gns3Unreachable",
    "Gns3User",
    "Gns3Version",
    "Gns3VersionUnsupported",
]
