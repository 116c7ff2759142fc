"""A file of GNS3's Copilot, and the command that imports it."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from projects.models import Project
from tests.chat.importing.samples import Sample

Import = Callable[..., str]


@pytest.fixture
def sample(tmp_path: Path) -> Sample:
    return Sample(tmp_path / "copilot_checkpoints.db")


@pytest.fixture
def bring(lab: Project) -> Import:
    """Runs the command for alice; what it says, with its error as the last line."""

    def run(path: Path, *arguments: str, user: str = "alice") -> str:
        said = StringIO()
        whose = [f"--user={user}"] if user else []
        try:
            call_command(
                "import_gns3_copilot",
                str(path),
                f"--project={lab.project_id}",
                *whose,
                *arguments,
                stdout=said,
                stderr=said,
            )
        except CommandError as exc:
            said.write(f"ERROR {exc}")
        return said.getvalue()

    return run
