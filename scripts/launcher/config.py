"""What a person chose through the environment, and what children are told."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scripts.launcher.errors import LaunchError

# Only the step that makes the users needs these.
FIRST_PASSWORDS = ("DEMO_PASSWORD", "ADMIN_PASSWORD")


@dataclass(frozen=True)
class Config:
    """The launcher's own settings."""

    root: Path
    data_dir: Path
    host: str
    port: int
    database_url: str
    redis_url: str
    has_lab: bool
    has_model: bool

    @classmethod
    def from_environ(cls, environ: Mapping[str, str], root: Path) -> "Config":
        """An empty value counts as not set."""
        return cls(
            root=root,
            data_dir=_folder(environ.get("DATA_DIR") or "data", root),
            host=environ.get("HOST") or "127.0.0.1",
            port=_port(environ.get("PORT") or "8000"),
            database_url=environ.get("DATABASE_URL") or "",
            redis_url=environ.get("REDIS_URL") or "",
            has_lab=not environ.get("GNS3_URL") and environ.get("DEMO_LAB") != "0",
            has_model=bool(environ.get("LLM_BASE_URL")),
        )

    @property
    def address(self) -> str:
        """Where a browser on this machine finds the page."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"


def children_environ(
    config: Config,
    environ: Mapping[str, str],
    *,
    redis_url: str,
    lab_port: int,
    lab_password: str,
    executables: Path,
) -> dict[str, str]:
    """The environment of every process; secrets go here, never on command lines."""
    data = config.data_dir
    # Empty values out: to the settings they would mean "set, to nothing".
    result = {name: value for name, value in environ.items() if value}
    result |= {
        "DATA_DIR": str(data),
        "SECRET_KEY_FILE": str(data / "secret_key"),
        "ENCRYPTION_KEY_FILE": str(data / "encryption_key"),
        "REDIS_URL": redis_url,
        "HOST": config.host,
        "PORT": str(config.port),
        "PATH": f"{executables}{os.pathsep}{environ.get('PATH', os.defpath)}",
        "PYTHONUNBUFFERED": "1",
    }
    if config.has_lab:
        result |= {
            "DEMOLAB_PORT": str(lab_port),
            "DEMOLAB_URL": f"http://127.0.0.1:{lab_port}",
            "DEMOLAB_USERNAME": "demolab",
            "DEMOLAB_PASSWORD": lab_password,
            "DEMOLAB_STATE": str(data / "demolab.json"),
        }
    return result


def without_first_passwords(environ: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in environ.items() if key not in FIRST_PASSWORDS}


def _folder(text: str, root: Path) -> Path:
    return (root / Path(text).expanduser()).resolve()


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise LaunchError(f"PORT={text} is no port: choose one from 1 to 65535.")
    return int(text)
