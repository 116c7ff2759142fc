"""The real product with the simulated lab and the built-in rules as its model."""

from collections.abc import Iterator

import pytest

from tests.stack import Stack


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with Stack(tmp_path_factory.mktemp("e2e"), env={"OFFLINE_PACE": "0.05"}) as stack:
        yield stack
