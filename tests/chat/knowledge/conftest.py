"""Collections of each scope, and a place for files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from pytest_django.fixtures import Settings

from chat.documents import wake
from chat.knowledge import embed, ingest, search
from chat.knowledge.models import Collection
from projects.models import Project


@pytest.fixture(autouse=True)
def data_dir(settings: Settings, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path


@pytest.fixture(autouse=True)
def woken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Tasks that would have been sent; there is no broker here."""
    sent: list[str] = []
    monkeypatch.setattr(wake, "_submit", sent.append)
    return sent


@pytest.fixture
def site(transactional_db: None) -> Collection:
    return Collection.objects.create(name="Campus", scope="site")


@pytest.fixture
def hers(alice: User) -> Collection:
    return Collection.objects.create(name="Hers", scope="user", user=alice)


@pytest.fixture
def his(bob: User) -> Collection:
    return Collection.objects.create(name="His", scope="user", user=bob)


@pytest.fixture
def labs(lab: Project) -> Collection:
    return Collection.objects.create(name="Lab notes", scope="project", project=lab)


class Topics:
    """Stands for a model: a text points where its topics do, whatever its words."""

    name = "topics"
    _AXES = (("lab", "netzlabor", "practice room"), ("food", "mensa", "canteen"))

    def passages(self, texts: list[str]) -> Any:
        return np.stack([self.question(text) for text in texts])

    def question(self, text: str) -> Any:
        points = [
            1.0 + sum(text.lower().count(word) for word in words) * 5
            for words in self._AXES
        ]
        vector = np.array(points, dtype=np.float32)
        return vector / np.linalg.norm(vector)


@pytest.fixture
def topics(monkeypatch: pytest.MonkeyPatch) -> Topics:
    model = Topics()
    for module in (embed, ingest, search):
        monkeypatch.setattr(module, "embedder", lambda: model)
    return model
