"""Calls to addresses that people enter: only to where they may go.

Checked is what a name resolves to, and just that is connected to: a name that resolves
otherwise the next moment gains nothing. Redirects are not followed. What is public may
be called; private and loopback addresses only by trusted callers, and only `host:port`
pairs on the list; what serves a machine's own secrets, never.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import httpx
from aiohttp.abc import AbstractResolver, ResolveResult
from django.conf import settings
from httpx_aiohttp import AiohttpTransport

from copilot_site.lib.errors import UserFacingError

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

ANY_PORT = "*"
_PORTS = {"http": 80, "https": 443}
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_V4_COMPATIBLE = ipaddress.ip_network("::/96")
# Not for anybody: link-local, where clouds keep their metadata, and its other homes.
_NEVER = [
    ipaddress.ip_network(text)
    for text in (
        *("0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "168.63.129.16/32"),
        *("100.100.100.200/32", "224.0.0.0/3", "192.88.99.0/24"),
        *("::/128", "fe80::/10", "fec0::/10", "ff00::/8", "fd00:ec2::/32"),
        "64:ff9b:1::/48",
    )
]


class AddressRefused(UserFacingError):
    """Not a public address, and not one of the list that this caller may use."""

    code = "address_refused"
    status = 400


@dataclass(frozen=True, slots=True)
class Reach:
    """Which addresses a caller may use besides public ones."""

    private: frozenset[tuple[str, str]] = frozenset()

    def lists(self, host: str, port: int) -> bool:
        return bool(self.private & {(host, str(port)), (host, ANY_PORT)})

    def allows(self, address: str, *, host: str, port: int) -> bool:
        """Whether the host, which resolves to this, may be called there."""
        ip = parsed(address)
        if ip is None or is_never(ip):
            return False
        return is_public(ip) or self.lists(host, port)

    def check(self, url: str) -> None:
        """What can be said before a name is resolved. Raises AddressRefused."""
        host, port = place_of(url)
        is_address = parsed(host) is not None
        if is_disguised(host) or (
            is_address and not self.allows(host, host=host, port=port)
        ):
            raise refusal(host, port)


def reach(*, is_trusted: bool) -> Reach:
    """For what an operator or the environment has set up, or for everybody."""
    if not is_trusted:
        return Reach()
    listed = set(map(listed_place, settings.LLM_PRIVATE_HOSTS))
    if settings.LLM_BASE_URL:
        # Who may set the environment has listed it by that.
        host, port = place_of(settings.LLM_BASE_URL)
        listed.add((host, str(port)))
    return Reach(frozenset(listed))


def refusal(host: str, port: int) -> AddressRefused:
    shown = f"[{host}]" if ":" in host else host
    return AddressRefused(
        f"{shown}:{port} is not a public address. An operator can allow it: add "
        f"{shown}:{port} to LLM_PRIVATE_HOSTS, and set up the config in the admin."
    )


def place_of(url: str) -> tuple[str, int]:
    """Host and port. Raises AddressRefused for what is no http(s) address."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if host is None or parts.scheme not in _PORTS:
        raise AddressRefused("An address looks like http://host:port/path.")
    return _host(host), port or _PORTS[parts.scheme]


def listed_place(text: str) -> tuple[str, str]:
    """From an entry of the list: `host:port`, `[::1]:port`, `host:*`."""
    host, _, port = text.strip().rpartition(":")
    return _host(host.strip("[]")), port


def _host(text: str) -> str:
    host = text.lower().rstrip(".").partition("%")[0]
    ip = parsed(host)
    return host if ip is None else str(ip)


# --- Addresses ------------------------------------------------------------------


def parsed(text: str) -> IPAddress | None:
    """The address that the network sees, whatever it is wrapped in; None: a name."""
    try:
        ip = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return _inner(ip) if isinstance(ip, ipaddress.IPv6Address) else ip


def _inner(ip: ipaddress.IPv6Address) -> IPAddress:
    """The IPv4 address in IPv6's clothes: mapped, 6to4, Teredo, NAT64, compatible."""
    if ip.ipv4_mapped is not None:
        return ip.ipv4_mapped
    if ip.sixtofour is not None:
        return ip.sixtofour
    if ip.teredo is not None:
        return ip.teredo[1]
    if ip in _NAT64 or (ip in _V4_COMPATIBLE and int(ip) > 1):
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip


def is_disguised(host: str) -> bool:
    """Decimal, octal, hexadecimal or short: an address that nobody writes like this."""
    if parsed(host) is not None:
        return False
    try:
        socket.inet_aton(host)
    except (OSError, ValueError):
        return False
    return True


def is_never(ip: IPAddress) -> bool:
    return any(ip.version == net.version and ip in net for net in _NEVER)


def is_public(ip: IPAddress) -> bool:
    return ip.is_global and not ip.is_multicast and not is_never(ip)


# --- Connecting -----------------------------------------------------------------


class GuardedResolver(AbstractResolver):
    """Names → addresses that may be called; connections use only those."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def resolve(
        self, host: str, port: int = 0, family: Any = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await resolved(host, port, family)
        allowed = [
            one
            for one in found
            if self._reach.allows(one["host"], host=_host(host), port=port)
        ]
        if not allowed:
            raise refusal(host, port)
        return allowed

    async def close(self) -> None:
        """Nothing is kept open."""


async def resolved(host: str, port: int, family: Any) -> list[ResolveResult]:
    """What the system's resolver says. Raises OSError."""
    loop = asyncio.get_running_loop()
    rows = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, family=family)
    return [_result(host, port, row[0], row[2], row[4]) for row in rows]


def _result(
    host: str, port: int, family: int, protocol: int, place: Iterable[Any]
) -> ResolveResult:
    return ResolveResult(
        hostname=host,
        host=str(next(iter(place))),
        port=port,
        family=family,
        proto=protocol,
        flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    )


class GuardedTransport(httpx.AsyncBaseTransport):
    """Connects where its reach allows it, and nowhere else.

    Each event loop has its own connections: those of an ended one fail in the next.
    """

    def __init__(self, reach: Reach, *, connections: int) -> None:
        self._reach = reach
        self._connections = connections
        # With SSL_CERT_FILE: a site may have an authority of its own.
        self._certificates = httpx.create_ssl_context()
        self._of_loop: dict[asyncio.AbstractEventLoop, AiohttpTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        # Literal addresses are resolved by nobody.
        self._reach.check(str(request.url))
        return await self._transport().handle_async_request(request)

    def _transport(self) -> AiohttpTransport:
        loop = asyncio.get_running_loop()
        if (known := self._of_loop.get(loop)) is not None:
            return known
        for ended in [one for one in list(self._of_loop) if one.is_closed()]:
            self._of_loop.pop(ended, None)
        made = AiohttpTransport(verify=self._certificates, client=self._session)
        self._of_loop[loop] = made
        return made

    async def aclose(self) -> None:
        """The running loop's connections; another's can't be closed from here."""
        transport = self._of_loop.pop(asyncio.get_running_loop(), None)
        if transport is not None:
            await transport.aclose()

    def _session(self) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            resolver=GuardedResolver(self._reach),
            limit=self._connections,
            ssl=self._certificates,
            use_dns_cache=False,
        )
        return aiohttp.ClientSession(connector=connector)


def outside_client(
    reach: Reach, *, timeout: float = 60.0, connections: int = 100
) -> httpx.AsyncClient:
    """For all calls to addresses that somebody entered; raises AddressRefused.

    Proxies of the environment are not used: they would resolve names by themselves.
    """
    return httpx.AsyncClient(
        transport=GuardedTransport(reach, connections=connections),
        timeout=httpx.Timeout(timeout, connect=10),
        follow_redirects=False,
        trust_env=False,
    )


def refused_within(error: BaseException) -> AddressRefused | None:
    """The refusal that a client of another library has wrapped in errors of its own."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, AddressRefused):
            return seen
        seen = seen.__cause__ or seen.__context__
    return None
