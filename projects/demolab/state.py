"""Keeps the lab in one JSON file, so that a restart finds it as it was."""

from __future__ import annotations

import logging
import os
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from projects.demolab.generate import Truth
from projects.demolab.model import Network

logger = logging.getLogger(__name__)


@dataclass
class Project:
    project_id: str
    name: str
    is_opened: bool = True
    network: Network = field(default_factory=Network)


@dataclass
class State:
    """All that outlives the process."""

    projects: dict[str, Project] = field(default_factory=dict)
    truth: Truth | None = None


_adapter: TypeAdapter[State] = TypeAdapter(State)


def read(path: Path) -> State | None:
    """The stored state; a file that cannot be read is set aside."""
    try:
        return _adapter.validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (ValidationError, OSError) as exc:
        aside = path.with_name(f"{path.name}.broken-{time.time_ns()}")
        os.replace(path, aside)
        logger.warning("The state of the simulated lab cannot be read: %s", exc)
        logger.warning("It was set aside as %s; the default lab is made.", aside)
        return None


def write(path: Path, state: State) -> None:
    """Replace the file in one step: readers see the old state or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_adapter.dump_json(state, indent=1))
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
