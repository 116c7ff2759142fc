"""Checks before anything starts: each failure is one clear line."""

import errno
import random
import socket
from urllib.parse import parse_qsl, unquote, urlsplit

from scripts.launcher.errors import LaunchError

CONNECT_SECONDS = 5
# Below the range from which systems take ports of outgoing connections.
LAB_PORTS = range(20_000, 32_000)


def check_port(host: str, port: int) -> None:
    """Raise unless a server could listen there."""
    try:
        reason = _why_not(host, port)
    except socket.gaierror as exc:
        raise LaunchError(f"HOST={host} is no address of this machine.") from exc
    if reason is None:
        return
    if reason.errno == errno.EADDRINUSE:
        raise LaunchError(
            f"Port {port} on {host} is in use. Choose another:"
            f" make run PORT={_next_free(host, port)}"
        )
    if reason.errno == errno.EACCES:
        raise LaunchError(
            f"Port {port} needs privileges. Choose one above 1023: make run PORT=8000"
        )
    raise LaunchError(f"Can't listen on {host}, port {port}: {reason.strerror}.")


def free_lab_port() -> int:
    for port in random.sample(LAB_PORTS, 200):
        if _why_not("127.0.0.1", port) is None:
            return port
    raise LaunchError("No free port for the simulated lab from 20000 to 32000.")


def check_database(url: str) -> None:
    """Raise unless the database answers; the line never shows the password."""
    if not url:
        return
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as exc:
        raise LaunchError(f"DATABASE_URL can't be read: {exc}.") from exc
    if parts.scheme == "sqlite":
        return
    if parts.scheme not in ("postgres", "postgresql"):
        raise LaunchError(
            "DATABASE_URL must look like postgres://user:password@host:5432/name"
            f" or sqlite:////path/to/file, not {parts.scheme or 'without scheme'}:..."
        )

    import psycopg

    known = {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()}
    given: dict[str, str | int | None] = {
        "host": unquote(parts.hostname or "") or None,
        "port": port,
        "user": unquote(parts.username or "") or None,
        "password": unquote(parts.password or "") or None,
        "dbname": unquote(parts.path[1:]) or None,
    }
    given |= {key: text for key, text in parse_qsl(parts.query) if key in known}
    try:
        where = psycopg.conninfo.make_conninfo("", **given)
        psycopg.connect(where, connect_timeout=CONNECT_SECONDS).close()
    except psycopg.Error as exc:
        reason = " ".join(str(exc).split())[:200]
        raise LaunchError(f"The database of DATABASE_URL: {reason}") from exc


def check_redis(url: str) -> None:
    """Raise unless the server of REDIS_URL answers."""
    if not url:
        return

    import redis

    try:
        client = redis.Redis.from_url(
            url,
            socket_connect_timeout=CONNECT_SECONDS,
            socket_timeout=CONNECT_SECONDS,
        )
        with client:
            client.ping()
    except (redis.RedisError, ValueError, OSError) as exc:
        where = urlsplit(url)
        place = where.hostname or where.path
        reason = " ".join(str(exc).split())[:150]
        raise LaunchError(f"The Redis of REDIS_URL ({place}): {reason}") from exc


def _why_not(host: str, port: int) -> OSError | None:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    with socket.socket(family, kind, protocol) as probe:
        # As servers do: connections of an earlier start may still linger.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
            probe.listen(1)
        except OSError as exc:
            return exc
    return None


def _next_free(host: str, port: int) -> int:
    later = range(port + 1, min(port + 100, 65536))
    return next((item for item in later if _why_not(host, item) is None), 8000)
