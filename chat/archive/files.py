"""Which files of DATA_DIR a backup holds, and how they come back."""

import contextlib
import filecmp
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from chat.archive.container import Reader, Writer
from chat.archive.errors import ArchiveDamaged

FOLDER = "files/"
KEYS = ("secret_key", "encryption_key", "credentials", "demolab_credentials")
# Logs, running work, copies, collected static files.
_FOLDERS_LEFT_OUT = {"logs", "valkey", "run", "backups", "static"}
# Relative to DATA_DIR. Databases are copied by their own means; checkpoints serve
# runs in progress only.
_LEFT_OUT = re.compile(
    r"lock|\.probe\.[^/]*|[^/]*\.(part|sock|pid|log)"
    r"|[^/]*\.(sqlite3|db)(-wal|-shm|-journal)?"
    r"|projects/.*/copilot_checkpoints\.db[^/]*"
)


def kept_files(data_dir: Path, *, with_keys: bool) -> Iterator[Path]:
    """Relative paths."""
    for folder, folders, names in os.walk(data_dir):
        here = Path(folder).relative_to(data_dir)
        folders.sort()
        for name in sorted(names):
            path = here / name
            is_wanted = _is_kept(path.as_posix()) and (with_keys or not _is_key(path))
            whole = data_dir / path
            if is_wanted and whole.is_file() and not whole.is_symlink():
                yield path


def _is_kept(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return not (path.split("/")[0] in _FOLDERS_LEFT_OUT or _LEFT_OUT.fullmatch(path))


def _is_key(path: Path) -> bool:
    # One that is being written has a suffix.
    return len(path.parts) == 1 and path.name.split(".")[0] in KEYS


def add_files(
    archive: Writer, data_dir: Path, *, with_keys: bool, but: Path
) -> list[str]:
    """Their names. `but` is the backup itself."""
    added: list[str] = []
    for path in kept_files(data_dir, with_keys=with_keys):
        whole = data_dir / path
        if whole.resolve() == but.resolve():
            continue
        # What is deleted meanwhile is not missed.
        with contextlib.suppress(FileNotFoundError):
            archive.add_file(f"{FOLDER}{path.as_posix()}", whole)
            added.append(path.as_posix())
    return added


def check_names(archive: Reader) -> None:
    """Raises ArchiveDamaged for a path that would leave DATA_DIR, or meddle in it."""
    for name in archive.parts:
        if not name.startswith(FOLDER):
            continue
        path = name.removeprefix(FOLDER)
        is_plain = "\0" not in path and not {"", ".", ".."} & {*path.split("/")}
        if not (is_plain and _is_kept(path)):
            raise ArchiveDamaged("The backup holds a file that is none of DATA_DIR.")


def put_back(archive: Reader, data_dir: Path) -> list[str]:
    """Names of the files written; a different file of the name is kept beside."""
    written: list[str] = []
    for name in sorted(archive.parts):
        if not name.startswith(FOLDER):
            continue
        target = data_dir / name.removeprefix(FOLDER)
        if not target.parent.resolve().is_relative_to(data_dir.resolve()):
            raise ArchiveDamaged("A folder of DATA_DIR leads out of it.")
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            new = Path(folder, "new")
            archive.extract(name, new)
            if target.is_file() and filecmp.cmp(new, target, shallow=False):
                continue
            if target.exists():
                os.replace(target, target.with_name(f"{target.name}.before-restore"))
            os.replace(new, target)
        written.append(name.removeprefix(FOLDER))
    return written
