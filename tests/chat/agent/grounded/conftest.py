import pytest

from tests.chat.agent.conftest import execute as execute
from tests.chat.grounded_support import Site


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Site:
    return Site(monkeypatch)
