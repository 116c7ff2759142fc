"""A filled project, and commands that say what happened."""

from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from chat.models import ChatSession
from projects.models import Project
from tests.chat.archive.samples import fill

Call = Callable[..., str]


@pytest.fixture
def filled(lab: Project, alice: User) -> ChatSession:
    return fill(lab, alice)


@pytest.fixture
def call(transactional_db: None) -> Call:
    """Runs a command; what it says, with its error as the last line."""

    def run(name: str, *arguments: Any) -> str:
        said = StringIO()
        try:
            call_command(name, *map(str, arguments), stdout=said, stderr=said)
        except CommandError as exc:
            said.write(f"ERROR {exc}")
        return said.getvalue()

    return run
