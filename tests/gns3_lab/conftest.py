"""Gives the tests here their GNS3 server, and each a lab of its own."""

from collections.abc import AsyncIterator

import pytest

from projects.gns3 import Gns3Client, Gns3Project
from tests.gns3_lab.fixtures import gns3_server
from tests.gns3_lab.rig import Gns3Server

__all__ = ["gns3_server"]


@pytest.fixture
async def client(gns3_server: Gns3Server) -> AsyncIterator[Gns3Client]:
    async with Gns3Client(
        gns3_server.url, username=gns3_server.username, password=gns3_server.password
    ) as client:
        yield client


@pytest.fixture
async def project(
    client: Gns3Client, request: pytest.FixtureRequest
) -> AsyncIterator[Gns3Project]:
    project = await client.create_project(request.node.name)
    yield project
    await client.delete_project(project.project_id)
