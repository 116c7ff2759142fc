"""A GNS3 client for a server, with the account that acts there."""

from copilot_site.lib.secret_values import remember
from projects.gns3.client import Gns3Client
from projects.models import Server


def client_for(server: Server, *, token: str = "") -> Gns3Client:
    """Acts with the token where there is one, else as the service account."""
    return Gns3Client(
        server.url,
        username="" if token else server.username,
        password="" if token else remember(server.password),
        token=remember(token),
    )
