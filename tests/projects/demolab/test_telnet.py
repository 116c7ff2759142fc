"""Consoles over real sockets behave as GNS3's do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projects.demolab.lab import Config
from projects.demolab.server import serve
from projects.demolab.telnet import GREETING, Negotiation

PC, ROUTER = b"\r\n\rPC1> ", b"R1#"


async def test_first_client_gets_negotiation_banner_and_prompt(client: Any) -> None:
    telnet = await client.telnet("PC1")

    text = await telnet.until(PC)

    assert text.encode(errors="replace").count(b"SIMULATED") == 1
    await telnet.close()


async def test_connection_opens_with_the_options_of_gns3(client: Any) -> None:
    telnet = await client.telnet("PC1")

    raw = await telnet.reader.readexactly(len(GREETING))

    assert raw == bytes([255, 251, 1, 255, 251, 3, 255, 251, 0, 255, 253, 0])
    await telnet.close()


async def test_later_client_gets_nothing_until_it_sends_a_newline(client: Any) -> None:
    first = await client.telnet("PC1")
    await first.until(PC)
    second = await client.telnet("PC1")
    await second.reader.readexactly(len(GREETING))

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(second.reader.read(1), 0.2)

    assert await second.command("", b"\rPC1> ") == "\r\n\rPC1> "
    await first.close()
    await second.close()


async def test_all_clients_share_one_session(client: Any) -> None:
    first = await client.telnet("PC1")
    await first.until(PC)
    second = await client.telnet("PC1")
    await second.reader.readexactly(len(GREETING))

    await first.command("show ip", PC)

    assert "IP/MASK     : 10.0.1.10/24\r\n" in await second.until(PC)
    await first.close()
    await second.close()


@pytest.mark.parametrize("newline", [b"\r", b"\n", b"\r\n", b"\r\0"])
async def test_every_newline_is_one_return(client: Any, newline: bytes) -> None:
    telnet = await client.telnet("PC1")
    await telnet.until(PC)

    telnet.writer.write(b"echo one" + newline + b"echo two" + newline)
    text = await telnet.until(b"two\r\n\rPC1> ")

    assert text == "echo one\r\none\r\n\rPC1> echo two\r\ntwo\r\n\rPC1> "
    await telnet.close()


async def test_backspace_and_line_kill_edit_the_line(client: Any) -> None:
    telnet = await client.telnet("PC1")
    await telnet.until(PC)

    telnet.writer.write(b"garbage\x15echo ax\x7fb\r")
    text = await telnet.until(b"\r\n\rPC1> ")

    assert text.endswith("\r\nab\r\n\rPC1> ")
    await telnet.close()


async def test_ctrl_c_interrupts_an_endless_ping(client: Any) -> None:
    telnet = await client.telnet("PC1")
    await telnet.until(PC)
    telnet.writer.write(b"ping 10.0.1.254 -t\r")
    await telnet.until(b"icmp_seq=3 ")

    telnet.writer.write(b"\x03")
    await telnet.until(PC)

    assert await telnet.command("echo ok", PC[2:]) == "echo ok\r\nok\r\n\rPC1> "
    await telnet.close()


async def test_endless_ping_at_pace_zero_lets_the_server_answer(
    client_of: Callable[[Any], Any],
) -> None:
    running = await serve(Config(pace=0.0))
    client = await client_of(running)
    telnet = await client.telnet("PC1")
    telnet.writer.write(b"ping 10.0.1.254 -t\r")
    await telnet.until(b"icmp_seq=3 ")

    async with asyncio.timeout(5):
        assert (await client.http.get("/v3/version")).status_code == 200

    await telnet.close()
    await client.http.aclose()
    await running.stop()


async def test_router_pages_until_paging_is_off(client: Any) -> None:
    telnet = await client.telnet("R1")
    await telnet.until(ROUTER)

    telnet.writer.write(b"show running-config\r")
    first = await telnet.until(b" --More-- ")
    telnet.writer.write(b"\r")
    line = await telnet.until(b" --More-- ")
    telnet.writer.write(b"q")
    await telnet.until(ROUTER)
    await telnet.command("terminal length 0", b"\nR1#")
    whole = await telnet.command("show running-config", b"\nend\r\n\r\nR1#")

    assert first.count("\n") == 24
    assert line.count("\n") == 1
    assert "--More--" not in whole
    await telnet.close()


async def test_space_shows_the_next_page_to_the_end(client: Any) -> None:
    telnet = await client.telnet("R1")
    await telnet.until(ROUTER)
    telnet.writer.write(b"show running-config\r  ")

    text = await telnet.until(b"\nend\r\n\r\nR1#")

    assert text.count("--More--") == 2
    await telnet.close()


async def test_question_mark_helps_at_once_and_keeps_the_line(client: Any) -> None:
    telnet = await client.telnet("R1")
    await telnet.until(ROUTER)

    telnet.writer.write(b"show ?")
    await telnet.until(b"R1#show ")
    text = await telnet.command("clock", ROUTER)

    assert "UTC" in text
    await telnet.close()


async def test_ctrl_z_leaves_configuration_mode(client: Any) -> None:
    telnet = await client.telnet("R1")
    await telnet.until(ROUTER)
    await telnet.command("conf t", b"R1(config)#")

    telnet.writer.write(b"\x1a")

    assert await telnet.until(ROUTER) == "^Z\r\nR1#"
    await telnet.close()


async def test_port_listens_only_while_the_node_is_started(client: Any) -> None:
    node = await client.node("PC1")
    path = f"{client.project}/nodes/{node['node_id']}"
    telnet = await client.telnet("PC1")
    await telnet.until(PC)

    await client.post(f"{path}/stop", status=204)
    rest = await asyncio.wait_for(telnet.reader.read(), 5)
    with pytest.raises(ConnectionRefusedError):
        await client.telnet("PC1")
    await client.post(f"{path}/start", status=204)
    again = await client.telnet("PC1")

    assert rest == b""
    assert "SIMULATED" in await again.until(PC)
    await telnet.close()
    await again.close()


async def test_reload_restarts_with_the_saved_configuration(client: Any) -> None:
    telnet = await client.telnet("R1")
    await telnet.until(ROUTER)
    await telnet.command("conf t", b"(config)#")
    await telnet.command("hostname unsaved", b"unsaved(config)#")
    await telnet.command("end", b"unsaved#")
    await telnet.command("reload", b"[confirm]")

    telnet.writer.write(b"\r")
    await asyncio.wait_for(telnet.reader.read(), 5)
    async with asyncio.timeout(5):
        while True:
            try:
                again = await client.telnet("R1")
            except ConnectionRefusedError:
                await asyncio.sleep(0.01)
            else:
                break

    await again.until(ROUTER)
    await telnet.close()
    await again.close()


def test_option_is_answered_once() -> None:
    negotiation = Negotiation()

    answers = [negotiation.feed(bytes([255, 253, 24])) for _ in range(3)]

    assert answers == [("", bytes([255, 252, 24])), ("", b""), ("", b"")]


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=5))
def test_bytes_may_arrive_in_any_pieces(data: bytes, cuts: list[int]) -> None:
    data = bytes(byte for byte in data if byte < 128) + bytes(
        [255, 250, 31, 1, 255, 240]
    )
    whole = Negotiation().feed(data)[0]
    pieces = Negotiation()
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]

    text = "".join(
        pieces.feed(data[a:b])[0] for a, b in zip(places, places[1:], strict=False)
    )

    assert text == whole
