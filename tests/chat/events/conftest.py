"""The log of a run that is being executed."""

import pytest

from chat.events.address import RunAddress
from chat.models import Run
from tests.chat.support import claimed
from tests.conftest import Valkey


@pytest.fixture
def running(run: Run, valkey: Valkey) -> Run:
    return claimed(run)


@pytest.fixture
def address(running: Run) -> RunAddress:
    return RunAddress.of(running)
