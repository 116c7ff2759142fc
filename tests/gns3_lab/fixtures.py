"""The fixture `gns3_server`: a real GNS3 server, one for a whole test process."""

from collections.abc import Iterator

import pytest

from tests.gns3_lab.rig import Gns3Server, running_gns3_server


@pytest.fixture(scope="session")
def gns3_server() -> Iterator[Gns3Server]:
    with running_gns3_server() as server:
        yield server
