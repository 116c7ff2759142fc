"""Keeps the product's own data out: no source may read sessions, keys or users."""

import os
import stat
from pathlib import Path

from django.conf import settings
from django.db import connections

from chat.datasources.address import Address
from chat.datasources.errors import SourceRefused

# Together they are in no other database than ours, or a copy of it.
OWN_TABLES = frozenset({"django_migrations", "chat_chatsession"})
_OWN = "This is the copilot's own database, which no data source may read."
_DEFAULT_PORT = 5432


def check_not_own(address: Address) -> None:
    """By place, before anything is opened. Raises SourceRefused."""
    if address.path is not None:
        _check_file(address.path)
    else:
        _check_server(address)


def check_content(tables: set[str]) -> None:
    """By content: a copy, a restored backup, another name of the same server."""
    if tables >= OWN_TABLES:
        raise SourceRefused(_OWN)


def examples_folder() -> Path:
    """The one place under DATA_DIR that data sources may be in."""
    return Path(settings.DATA_DIR) / "examples"


def _check_file(path: Path) -> None:
    if not path.is_absolute():
        raise SourceRefused("A SQLite file is named by its whole path.")
    try:
        # Links are followed first: the file counts, not its name.
        real = path.resolve(strict=True)
        found = real.stat()
    except (OSError, RuntimeError):
        raise SourceRefused("There is no such file, or it cannot be read.") from None
    if not stat.S_ISREG(found.st_mode):
        raise SourceRefused("This is no regular file.")
    if _is_own_file(found):
        raise SourceRefused(_OWN)
    data = Path(settings.DATA_DIR).resolve()
    if real.is_relative_to(data) and not real.is_relative_to(
        examples_folder().resolve()
    ):
        raise SourceRefused(
            "Files in the copilot's data folder may not be read, "
            "except those in its folder “examples”."
        )


def _is_own_file(found: os.stat_result) -> bool:
    own = connections["default"].settings_dict
    if not str(own["ENGINE"]).endswith("sqlite3"):
        return False
    try:
        ours = Path(str(own["NAME"])).stat()
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == (ours.st_dev, ours.st_ino)


def _check_server(address: Address) -> None:
    own = connections["default"].settings_dict
    if not str(own["ENGINE"]).endswith("postgresql"):
        return
    same = (
        (address.host or "localhost") == (str(own["HOST"]) or "localhost")
        and address.port == int(own["PORT"] or _DEFAULT_PORT)
        and address.database == str(own["NAME"])
    )
    if same:
        raise SourceRefused(_OWN)
