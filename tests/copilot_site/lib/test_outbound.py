"""Calls go where they may, whatever an address is dressed as."""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID
from pytest_django import Settings

from copilot_site.lib import outbound
from copilot_site.lib.outbound import (
    AddressRefused,
    GuardedResolver,
    Reach,
    outside_client,
    parsed,
    reach,
)
from tests.fakes.provider import ScriptedProvider, fails, says

# SEC-08 and what else leads inside.
INSIDE = [
    "http://127.0.0.1:6379/v1",
    "http://127.1/v1",
    "http://0.0.0.0:8000/",
    "http://2130706433/v1",
    "http://0x7f000001/v1",
    "http://0x7f.1/v1",
    "http://017700000001/v1",
    "http://0177.0.0.1/v1",
    "http://10.0.0.5/v1",
    "http://172.16.3.4/v1",
    "http://192.168.1.1/v1",
    "http://100.64.0.1/v1",
    "http://169.254.169.254/latest/meta-data",
    "http://100.100.100.200/latest/meta-data",
    "http://168.63.129.16/machine",
    "http://192.0.0.192/opc/v2",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://[::1]:11434/v1",
    "http://[::]/v1",
    "http://[::ffff:127.0.0.1]/v1",
    "http://[::ffff:a9fe:a9fe]/v1",
    "http://[::127.0.0.1]/v1",
    "http://[2002:7f00:1::]/v1",
    "http://[2002:a9fe:a9fe::1]/v1",
    "http://[64:ff9b::7f00:1]/v1",
    "http://[64:ff9b::a9fe:a9fe]/v1",
    "http://[64:ff9b:1::1]/v1",
    "http://[fe80::1]/v1",
    "http://[fe80::1%25eth0]/v1",
    "http://[fd00:ec2::254]/latest",
    "http://[fc00::1]/v1",
    "http://[ff02::1]/",
]
NEVER = ["169.254.169.254", "100.100.100.200", "fd00:ec2::254", "0.0.0.0", "fe80::1"]


@pytest.fixture
def inside() -> Iterator[ScriptedProvider]:
    """A service of this machine that nobody outside should reach."""
    with ScriptedProvider(says("secret")) as server:
        yield server


@pytest.mark.parametrize("url", INSIDE)
async def test_an_address_inside_is_refused_before_anything_is_sent(url: str) -> None:
    async with outside_client(Reach()) as client:
        # httpx knows one of these forms to be none.
        with pytest.raises((AddressRefused, httpx.InvalidURL)):
            await client.get(url)
    with pytest.raises(AddressRefused):
        Reach().check(url)


@pytest.mark.parametrize("url", ["ftp://x/", "file:///etc/passwd", "http://", "x:y"])
def test_what_is_no_web_address_is_refused(url: str) -> None:
    with pytest.raises(AddressRefused):
        Reach().check(url)


@pytest.mark.parametrize(
    "url",
    ["https://8.8.8.8/v1", "http://[2606:4700::1111]/v1", "https://api.example/v1"],
)
def test_a_public_address_may_be_called(url: str) -> None:
    Reach().check(url)


def resolving(monkeypatch: pytest.MonkeyPatch, *rounds: list[str]) -> list[str]:
    """Names resolve to these, one list a time; the last repeats."""
    left, asked = list(rounds), []

    async def resolved(host: str, port: int, family: Any) -> Any:
        asked.append(host)
        found = left.pop(0) if len(left) > 1 else left[0]
        return [
            outbound._result(host, port, socket.AF_INET, 6, (ip, port)) for ip in found
        ]

    monkeypatch.setattr(outbound, "resolved", resolved)
    return asked


async def test_a_name_that_leads_inside_is_refused(
    monkeypatch: pytest.MonkeyPatch, inside: ScriptedProvider
) -> None:
    resolving(monkeypatch, ["127.0.0.1"])
    port = httpx.URL(inside.url).port

    async with outside_client(Reach()) as client:
        with pytest.raises(AddressRefused, match="rebind.example"):
            await client.get(f"http://rebind.example:{port}/v1")

    assert inside.requests == []


async def test_the_real_resolver_says_where_localhost_leads(
    inside: ScriptedProvider,
) -> None:
    port = httpx.URL(inside.url).port

    async with outside_client(Reach()) as client:
        with pytest.raises(AddressRefused):
            await client.get(f"http://localhost:{port}/v1")

    assert inside.requests == []


def test_a_client_serves_one_event_loop_after_another(
    inside: ScriptedProvider,
) -> None:
    port = httpx.URL(inside.url).port
    client = outside_client(Reach(frozenset({("127.0.0.1", str(port))})), timeout=5)

    async def asked() -> int:
        async with asyncio.timeout(20):
            return (await client.get(f"{inside.url}/models")).status_code

    assert [asyncio.run(asked()) for _ in range(3)] == [200, 200, 200]


def self_signed(folder: Path) -> tuple[Path, ssl.SSLContext]:
    """A certificate for 127.0.0.1 that no authority has signed, and a server's use."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a site's own")])
    host = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([host]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem, secret = folder / "site.pem", folder / "site.key"
    pem.write_bytes(certificate.public_bytes(Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(pem, secret)
    return pem, serving


async def test_a_sites_own_authority_is_trusted_where_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem, serving = self_signed(tmp_path)

    async def answer(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=serving)
    port = server.sockets[0].getsockname()[1]
    allowed = Reach(frozenset({("127.0.0.1", str(port))}))
    async with server:
        async with outside_client(allowed, timeout=10) as client:
            with pytest.raises(httpx.TransportError, match="CERTIFICATE_VERIFY"):
                await client.get(f"https://127.0.0.1:{port}/")
        monkeypatch.setenv("SSL_CERT_FILE", str(pem))
        async with outside_client(allowed, timeout=10) as client:
            assert (await client.get(f"https://127.0.0.1:{port}/")).status_code == 204


async def test_of_several_addresses_only_public_ones_are_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resolving(monkeypatch, ["10.0.0.1", "93.184.215.14", "127.0.0.1"])

    found = await GuardedResolver(Reach()).resolve("mixed.example", 443)

    assert [one["host"] for one in found] == ["93.184.215.14"]


async def test_a_name_is_resolved_once_and_just_that_is_connected_to(
    monkeypatch: pytest.MonkeyPatch, inside: ScriptedProvider
) -> None:
    # Public for the check, inside for the connection: there is no second look.
    asked = resolving(monkeypatch, ["192.0.2.1"], ["127.0.0.1"])
    monkeypatch.setattr(outbound, "is_public", lambda ip: str(ip) == "192.0.2.1")
    port = httpx.URL(inside.url).port

    async with outside_client(Reach()) as client:
        with pytest.raises(httpx.HTTPError):
            await client.get(
                f"http://rebind.example:{port}/v1",
                timeout=httpx.Timeout(0.3, connect=0.3),
            )

    assert asked == ["rebind.example"]
    assert inside.requests == []


async def test_a_listed_pair_may_be_called_by_the_trusted_alone(
    inside: ScriptedProvider, settings: Settings
) -> None:
    place = inside.url.removeprefix("http://").removesuffix("/v1")
    settings.LLM_PRIVATE_HOSTS = [place]

    async with outside_client(reach(is_trusted=True)) as client:
        assert (await client.post(inside.url, json={})).status_code == 200
    async with outside_client(reach(is_trusted=False)) as client:
        with pytest.raises(AddressRefused):
            await client.post(inside.url, json={})


@pytest.mark.parametrize(
    ("listed", "url", "is_allowed"),
    [
        ("10.0.0.5:11434", "http://10.0.0.5:11434/v1", True),
        ("10.0.0.5:11434", "http://10.0.0.5:6379/v1", False),
        ("10.0.0.5:*", "http://10.0.0.5:6379/v1", True),
        ("10.0.0.5:80", "http://10.0.0.5/v1", True),
        ("10.0.0.5:443", "http://10.0.0.5/v1", False),
        ("[::1]:11434", "http://[::1]:11434/v1", True),
        ("[::1]:11434", "http://[0:0:0:0:0:0:0:1]:11434/v1", True),
        ("127.0.0.1:*", "http://2130706433:8080/v1", False),
        ("127.0.0.1:11434", "http://127.0.0.2:11434/v1", False),
    ],
)
def test_the_list_is_of_pairs(
    settings: Settings, listed: str, url: str, is_allowed: bool
) -> None:
    settings.LLM_PRIVATE_HOSTS = [listed]
    trusted = reach(is_trusted=True)

    if is_allowed:
        trusted.check(url)
    else:
        with pytest.raises(AddressRefused):
            trusted.check(url)


async def test_a_listed_name_may_lead_inside(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.LLM_PRIVATE_HOSTS = ["Models.Lab.:11434"]
    resolving(monkeypatch, ["10.0.0.5"])
    resolver = GuardedResolver(reach(is_trusted=True))

    assert await resolver.resolve("models.lab", 11434)
    with pytest.raises(AddressRefused):
        await resolver.resolve("models.lab", 6379)
    with pytest.raises(AddressRefused):
        await resolver.resolve("other.lab", 11434)


@pytest.mark.parametrize("address", NEVER)
async def test_metadata_is_out_of_reach_even_if_listed(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, address: str
) -> None:
    shown = f"[{address}]" if ":" in address else address
    settings.LLM_PRIVATE_HOSTS = [f"{shown}:*", "metadata.example:*"]
    resolving(monkeypatch, [address])
    trusted = reach(is_trusted=True)

    with pytest.raises(AddressRefused):
        trusted.check(f"http://{shown}/latest")
    with pytest.raises(AddressRefused):
        await GuardedResolver(trusted).resolve("metadata.example", 80)


def test_the_address_of_the_environment_counts_as_listed(settings: Settings) -> None:
    settings.LLM_PRIVATE_HOSTS = []
    settings.LLM_BASE_URL = "http://127.0.0.1:11434/v1"

    reach(is_trusted=True).check("http://127.0.0.1:11434/v1")
    with pytest.raises(AddressRefused):
        reach(is_trusted=True).check("http://127.0.0.1:11435/v1")


async def test_a_redirect_is_not_followed(
    inside: ScriptedProvider, settings: Settings
) -> None:
    inside.script(fails(302, "", {"Location": "http://169.254.169.254/latest"}))
    async with outside_client(reach(is_trusted=True)) as client:
        answer = await client.post(inside.url, json={})

    assert answer.status_code == 302
    assert len(inside.requests) == 1


async def test_no_proxy_of_the_environment_is_used(
    monkeypatch: pytest.MonkeyPatch, inside: ScriptedProvider
) -> None:
    # It would resolve names by itself.
    monkeypatch.setenv("HTTP_PROXY", inside.url)
    monkeypatch.setenv("http_proxy", inside.url)

    async with outside_client(Reach()) as client:
        with pytest.raises((AddressRefused, httpx.HTTPError)):
            await client.get("http://name.invalid/v1")

    assert inside.requests == []


def test_clothes_are_taken_off() -> None:
    for text in ("::ffff:10.0.0.1", "2002:a00:1::", "64:ff9b::a00:1", "::10.0.0.1"):
        assert str(parsed(text)) == "10.0.0.1"


def test_a_refusal_is_found_within_the_errors_of_others() -> None:
    wrapped = httpx.ConnectError("wrapped")
    wrapped.__cause__ = AddressRefused("no")

    assert outbound.refused_within(wrapped) is wrapped.__cause__
    assert outbound.refused_within(TimeoutError()) is None
