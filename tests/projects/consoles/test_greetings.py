"""What consoles do before there is a prompt."""

import asyncio
import socket
import time

import pytest

from projects.consoles import (
    ConsoleBooting,
    ConsoleClosed,
    ConsoleLoginNeeded,
    ConsoleRefused,
    ConsoleSilent,
    ConsoleTarget,
    connection,
    run_commands,
    synchronise,
)
from tests.projects.consoles.fake_console import Peer, fake_console

IOS = {"show clock": "*10:00:00.000 UTC Mon Mar 1 2027"}
OLD_LOG = "".join(
    f"*Mar  1 00:00:{n % 60:02}.000: %SYS-5-CONFIG_I: Configured, line {n}\r\n"
    for n in range(80)
)
PASSWORD = "l0gin-secret"


@pytest.fixture
def is_impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synchronise, "SILENCE_LIMIT", 0.4)
    monkeypatch.setattr(synchronise, "PROMPT_LIMIT", 1.0)
    monkeypatch.setattr(synchronise, "MARKER_LIMIT", 0.5)
    monkeypatch.setattr(synchronise, "WAKE_LIMIT", 0.2)


async def test_replayed_old_output_is_not_taken_for_the_commands_output() -> None:
    async def replays(peer: Peer) -> None:
        old = f"{OLD_LOG}R1#show clock\r\n*09:00:00.000 UTC old answer\r\n"
        await peer.send(old + "R1#reload\r\nProceed with reload? [confirm]\r\n")
        await peer.serve("R1#", IOS)

    async with fake_console(replays) as console:
        [result] = await run_commands(console.target("ios"), ["show clock"])

    assert result.output == IOS["show clock"]


async def test_replay_that_ends_in_an_old_prompt_is_told_from_a_live_one() -> None:
    async def boots_after_replay(peer: Peer) -> None:
        await peer.send(f"{OLD_LOG}R1#")
        await peer.line(is_echoed=False)
        await peer.serve("R1#", IOS)

    async with fake_console(boots_after_replay) as console:
        [result] = await run_commands(console.target("ios"), ["show clock"])

    assert result.output == IOS["show clock"]


async def test_prompt_in_the_same_read_as_the_banner_is_recognised() -> None:
    async def greets_at_once(peer: Peer) -> None:
        await peer.send("Welcome to R1\r\n\r\n")
        await peer.serve("R1#", IOS)

    async with fake_console(greets_at_once) as console:
        [result] = await run_commands(console.target("ios"), ["show clock"])

    assert result.output == IOS["show clock"]


@pytest.mark.usefixtures("is_impatient")
async def test_device_that_goes_silent_after_its_prompt_is_reported() -> None:
    async def goes_silent(peer: Peer) -> None:
        await peer.send("Welcome to R1\r\nR1#")
        await peer.hang()

    async with fake_console(goes_silent) as console:
        with pytest.raises(ConsoleSilent, match="does not answer"):
            await run_commands(console.target("ios"), ["show clock"])

        assert len(console.keys) < 200


@pytest.mark.usefixtures("is_impatient")
async def test_silent_console_does_not_delay_another_device() -> None:
    async def is_up(peer: Peer) -> None:
        await peer.serve("R1#", IOS)

    async with fake_console(Peer.hang) as hung, fake_console(is_up) as healthy:
        silent, [result] = await asyncio.gather(
            run_commands(hung.target("ios"), ["show clock"]),
            run_commands(healthy.target("ios"), ["show clock"]),
            return_exceptions=True,
        )

    assert isinstance(silent, ConsoleSilent)
    assert f"127.0.0.1:{hung.port}" in str(silent)
    assert "console" in str(silent)
    assert result.output == IOS["show clock"]


async def test_second_client_that_is_shown_nothing_presses_return() -> None:
    async def waits_for_a_key(peer: Peer) -> None:
        await peer.line(is_echoed=False)
        await peer.serve("PC1> ", {"show ip": "IP/MASK : 10.0.0.1/24"})

    async with fake_console(waits_for_a_key) as console:
        [result] = await run_commands(console.target("vpcs"), ["show ip"])

    assert result.output == "IP/MASK : 10.0.0.1/24"


async def test_fresh_router_gets_return_and_no_to_its_dialog() -> None:
    async def is_fresh(peer: Peer) -> None:
        await peer.send("\r\nPress RETURN to get started!\r\n\r\n")
        while await peer.key() != "\r":
            pass
        question = (
            "Would you like to enter the initial configuration dialog? [yes/no]: "
        )
        answer = ""
        while answer != "no":
            await peer.send(f"\r\n         --- System Dialog ---\r\n\r\n{question}")
            answer = await peer.line()
        await peer.send("\r\n\r\nPress RETURN to get started!\r\n\r\n")
        await peer.line(is_echoed=False)
        await peer.serve("Router#", IOS)

    async with fake_console(is_fresh) as console:
        [result] = await run_commands(console.target("ios"), ["show clock"])

    assert result.output == IOS["show clock"]
    assert "\n" not in console.keys


async def test_router_that_boots_is_reported_as_booting() -> None:
    async def boots(peer: Peer) -> None:
        await peer.send("System Bootstrap, Version 12.2\r\nSelf decompressing: ")
        while True:
            await peer.send("#")
            await asyncio.sleep(0.05)

    async with fake_console(boots) as console:
        with pytest.raises(ConsoleBooting, match="R1 .* still booting"):
            await run_commands(console.target("ios"), ["show clock"], time_limit=1)


async def test_router_that_comes_up_in_time_is_waited_for() -> None:
    async def boots(peer: Peer) -> None:
        await peer.send("System Bootstrap, Version 12.2\r\nSelf decompressing: ")
        for _ in range(10):
            await peer.send("##########")
            await asyncio.sleep(0.05)
        await peer.send(" [OK]\r\n\r\nPress RETURN to get started!\r\n")
        await peer.line(is_echoed=False)
        await peer.serve("R1#", IOS)

    async with fake_console(boots) as console:
        [result] = await run_commands(console.target("ios"), ["show clock"])

    assert result.output == IOS["show clock"]


async def test_login_is_answered_with_the_nodes_account() -> None:
    async def asks(peer: Peer) -> None:
        await peer.send("User Access Verification\r\n\r\nUsername: ")
        assert await peer.line() == "cisco"
        await peer.send("Password: ")
        assert await peer.line(is_echoed=False) == PASSWORD
        await peer.send("\r\n")
        await peer.serve("R1#", IOS)

    async with fake_console(asks) as console:
        target = console.target("ios", username="cisco", password=PASSWORD)
        [result] = await run_commands(target, ["show clock"])

    assert result.output == IOS["show clock"]


async def test_second_login_in_a_row_does_not_get_the_same_password() -> None:
    async def is_behind_a_terminal_server(peer: Peer) -> None:
        for _ in range(2):
            await peer.send("\r\nlogin: ")
            await peer.line()
            await peer.send("Password: ")
            await peer.line(is_echoed=False)

    async with fake_console(is_behind_a_terminal_server) as console:
        target = console.target("ios", username="cisco", password=PASSWORD)
        with pytest.raises(ConsoleLoginNeeded, match="again") as caught:
            await run_commands(target, ["show clock"])

        assert console.keys.count(PASSWORD) == 1
    assert PASSWORD not in f"{caught.value} {target!r}"


async def test_password_is_not_typed_where_none_is_asked_for() -> None:
    async def has_no_login(peer: Peer) -> None:
        await peer.serve("R1#", IOS)

    async with fake_console(has_no_login) as console:
        target = console.target("ios", username="cisco", password=PASSWORD)
        await run_commands(target, ["show clock"])

        assert PASSWORD not in console.keys


async def test_login_without_an_account_stops_before_anything_is_tried() -> None:
    async def asks(peer: Peer) -> None:
        await peer.send("Username: ")
        await peer.hang()

    async with fake_console(asks) as console:
        with pytest.raises(ConsoleLoginNeeded, match="asks for a user name"):
            await run_commands(console.target("ios"), ["show clock"])

        assert console.keys == ""


async def test_option_offers_are_answered_once_each() -> None:
    async def negotiates_for_ever(peer: Peer) -> None:
        async def repeat_offers() -> None:
            for _ in range(200):
                await peer.send(b"\xff\xfb\x01\xff\xfb\x03\xff\xfd\x03\xff\xfd\x18")
                await asyncio.sleep(0)

        await repeat_offers()
        await peer.serve("PC1> ", {"show ip": "10.0.0.1"})

    async with fake_console(negotiates_for_ever) as console:
        [result] = await run_commands(console.target("vpcs"), ["show ip"])

        negotiated = console.peers[0].negotiated
    assert result.output == "10.0.0.1"
    assert sorted(negotiated) == [(251, 3), (252, 24), (253, 1), (253, 3)]


async def test_refused_connection_names_host_and_port_at_once() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        target = ConsoleTarget("PC1", "127.0.0.1", port, "vpcs")
        started = time.monotonic()

        with pytest.raises(ConsoleRefused, match=f"PC1 .127.0.0.1:{port}."):
            await run_commands(target, ["show"])

    assert time.monotonic() - started < 30


async def test_unreachable_console_is_given_up_after_the_connect_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def never(*_: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(asyncio, "open_connection", never)
    monkeypatch.setattr(connection, "CONNECT_LIMIT", 0.1)

    with pytest.raises(ConsoleRefused, match="192.0.2.1:5000"):
        await run_commands(ConsoleTarget("PC1", "192.0.2.1", 5000, "vpcs"), ["show"])


async def test_console_that_hangs_up_at_once_is_reported() -> None:
    async def hangs_up(peer: Peer) -> None:
        await peer.send("Good-bye\r\n")

    async with fake_console(hangs_up) as console:
        with pytest.raises(ConsoleClosed, match="stop and start the node"):
            await run_commands(console.target("vpcs"), ["show ip"])
