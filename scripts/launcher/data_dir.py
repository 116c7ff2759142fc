"""The folder with everything that outlives a start: private, one launcher at a time."""

import fcntl
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from scripts.launcher.errors import LaunchError


def prepare(data_dir: Path) -> None:
    """Make the folder, and close it to everyone else."""
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        data_dir.chmod(0o700)
        probe = data_dir / f".probe.{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as exc:
        raise LaunchError(
            f"DATA_DIR {data_dir} can't be used: {exc.strerror}. Choose another:"
            " make run DATA_DIR=/path/to/folder"
        ) from exc


def check_keys(data_dir: Path, environ: Mapping[str, str]) -> None:
    """A new key would silently make every stored secret unreadable."""
    database, key = data_dir / "copilot.sqlite3", data_dir / "encryption_key"
    if database.exists() and not key.exists() and not environ.get("ENCRYPTION_KEYS"):
        raise LaunchError(
            f"{database} exists but {key} does not. Put the key back from a backup,"
            " or set ENCRYPTION_KEYS."
        )


@contextmanager
def lock(data_dir: Path) -> Iterator[None]:
    """The kernel frees the lock however the launcher ends."""
    with open(os.open(data_dir / "lock", os.O_RDWR | os.O_CREAT, 0o600), "r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as exc:
            raise LaunchError(
                f"Copilot already runs on {data_dir} (process {file.read().strip()})."
                " Stop it first, or choose another DATA_DIR."
            ) from exc
        file.truncate()
        file.write(str(os.getpid()))
        file.flush()
        yield


def lab_password(data_dir: Path) -> str:
    """The simulated lab's password: random, made once. Call it under the lock."""
    path = data_dir / "demolab_credentials"
    if not path.exists():
        draft = path.with_suffix(".new")
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(24))
        draft.replace(path)
    return path.read_text().strip()


def logins(data_dir: Path) -> list[tuple[str, str]]:
    """User names and passwords as `ensure_demo` keeps them, for the box."""
    try:
        lines = (data_dir / "credentials").read_text().splitlines()
    except OSError:
        return []
    pairs = (line.partition(" ") for line in lines)
    return [(user, password) for user, _, password in pairs if password]
