"""Another installation: its own folder, database and keys, reached by its commands."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings
from django.db import connection

ROOT = Path(__file__).resolve().parents[3]


class Installation:
    def __init__(self, folder: Path, *, own_keys: bool = False) -> None:
        folder.mkdir()
        self.data_dir = folder / "data"
        self.env = {
            "PATH": os.environ["PATH"],
            "DATA_DIR": str(self.data_dir),
            "DJANGO_SETTINGS_MODULE": "copilot_site.settings",
        }
        if not own_keys:
            self.env["ENCRYPTION_KEYS"] = settings.ENCRYPTION_KEYS[0]
        self._database = ""
        if connection.vendor == "postgresql":
            self._database = f"copy_{folder.name}_{os.getpid()}".replace("-", "_")
            with connection.cursor() as cursor:
                cursor.execute(f'CREATE DATABASE "{self._database}"')
            ours = sys.modules["tests.settings"]._ours["DATABASE_URL"]
            parts = urlsplit(ours)._replace(path=f"/{self._database}")
            self.env["DATABASE_URL"] = urlunsplit(parts)

    def run(self, *arguments: object) -> str:
        """All that the command says."""
        done = subprocess.run(
            [sys.executable, ROOT / "manage.py", *map(str, arguments)],
            env=self.env,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        said = done.stdout + done.stderr
        assert "Traceback" not in said, said
        return said

    def drop(self) -> None:
        if self._database:
            with connection.cursor() as cursor:
                cursor.execute(f'DROP DATABASE "{self._database}" WITH (FORCE)')


def table_rows(backup: Path) -> dict[str, list[str]]:
    """Every row of a backup of rows, by table."""
    with zipfile.ZipFile(backup) as opened:
        return {
            name: sorted(opened.read(name).decode().splitlines())
            for name in opened.namelist()
            if name.startswith("tables/")
        }


def manifest(backup: Path) -> dict[str, object]:
    with zipfile.ZipFile(backup) as opened:
        found: dict[str, object] = json.loads(opened.read("manifest.json"))
    return found
