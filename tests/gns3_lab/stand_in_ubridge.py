#!/usr/bin/env -S python3 -I
"""Test stand-in for uBridge: relays UDP between two ports. Not uBridge, for tests only.

Answers the commands that gns3-server 3.0.6 sends for VPCS nodes; the version it
reports is only what that server asks for. Packet filters and captures are ignored.
"""

import asyncio
import os
import shlex
import sys
from typing import cast

PRETENDED_VERSION = "0.9.19"


class Endpoint(asyncio.DatagramProtocol):
    """One UDP port of a bridge; what arrives leaves through its peer."""

    def __init__(self) -> None:
        self.transport: asyncio.DatagramTransport | None = None
        self.peer: Endpoint | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # asyncio's own UDP transport is no subclass of DatagramTransport.
        self.transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: object) -> None:
        if self.peer is not None and self.peer.transport is not None:
            self.peer.transport.sendto(data)

    def error_received(self, exc: Exception) -> None:
        """The other side is not up yet: a frame is lost, as on a real cable."""


bridges: dict[str, list[Endpoint]] = {}


async def add_udp(bridge: str, local: str, host: str, remote: str) -> None:
    loop = asyncio.get_running_loop()
    _, endpoint = await loop.create_datagram_endpoint(
        Endpoint,
        local_addr=("127.0.0.1", int(local)),
        remote_addr=(host, int(remote)),
    )
    bridges[bridge].append(endpoint)


async def answer(words: list[str]) -> str:
    match words:
        case ["hypervisor", "version"]:
            return f"100-{PRETENDED_VERSION}"
        case ["bridge", "create", name]:
            bridges[name] = []
        case ["bridge", _, name, *_] if name not in bridges:
            return f"209-no bridge {name}"
        case ["bridge", "add_nio_udp", name, local, host, remote]:
            await add_udp(name, local, host, remote)
        case ["bridge", "start", name]:
            first, second = bridges[name]
            first.peer, second.peer = second, first
        case ["bridge", "delete", name]:
            for endpoint in bridges.pop(name):
                if endpoint.transport is not None:
                    endpoint.transport.close()
    return "100-OK"


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    async for line in reader:
        words = shlex.split(line.decode())
        try:
            reply = await answer(words)
        except (OSError, ValueError) as exc:
            reply = f"299-{exc}"
        writer.write(f"{reply}\r\n".encode())
        await writer.drain()
        if words == ["hypervisor", "stop"]:
            os._exit(0)


async def main() -> None:
    host, port = sys.argv[sys.argv.index("-H") + 1].rsplit(":", 1)
    server = await asyncio.start_server(serve, host, int(port))
    await server.serve_forever()


if "-v" in sys.argv:
    print(f"ubridge version {PRETENDED_VERSION}")
else:
    asyncio.run(main())
