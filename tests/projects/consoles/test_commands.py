"""What happens between a command and the next prompt."""

import asyncio
import time
from collections.abc import Mapping

import pytest

from projects.consoles import (
    ConsoleBusy,
    ConsoleTimeout,
    ConsoleUnsupported,
    run_commands,
    synchronise,
    target_for,
)
from tests.projects.consoles.fake_console import FakeConsole, Peer, Script, fake_console

LONG = [f"interface Serial0/{number}" for number in range(40)]


def vpcs(answers: Mapping[str, str], prompt: str = "PC1> ") -> Script:
    async def script(peer: Peer) -> None:
        await peer.serve(prompt, answers)

    return script


async def answer_marker(peer: Peer) -> None:
    """Be an idle VPCS until the driver has found the prompt."""
    await peer.send("PC1> ")
    line = await peer.line()
    await peer.answer(line, {})
    await peer.send("\r\n\rPC1> ")


@pytest.mark.parametrize(
    "marker",
    [
        " --More-- ",
        "--More--",
        "-- More --",
        "--More-- or (q)uit",
        "<--- More --->",
        "---(more 45%)---",
    ],
)
@pytest.mark.parametrize("erasure", ["\r{blank}\r", "{back}{blank}{back}", ""])
async def test_paged_output_is_whole_and_without_markers(
    marker: str, erasure: str
) -> None:
    blank, back = " " * len(marker), "\b" * len(marker)

    async def pages(peer: Peer) -> None:
        while True:
            await peer.send("R1#")
            if await peer.line() != "show run":
                continue
            for start in range(0, len(LONG), 10):
                await peer.send("\r\n".join(LONG[start : start + 10]) + "\r\n")
                if start + 10 < len(LONG):
                    await peer.send(marker)
                    assert await peer.key() == " "
                    await peer.send(erasure.format(blank=blank, back=back))

    async with fake_console(pages) as console:
        [result] = await run_commands(console.target("ios"), ["show run"])

    assert result.output.splitlines() == LONG
    assert not result.is_truncated


async def test_backspaces_and_escape_sequences_never_reach_the_output() -> None:
    async def scribbles(peer: Peer) -> None:
        while True:
            await peer.send("\x1b[cR1#\x1b[9999B")
            line = await peer.line(is_echoed=False)
            await peer.send(f"xx\b\b\x1b[K{line}x\b \b\r\n")
            if line == "show ip":
                await peer.send("\x1b[1mIP\x1b[0m 10.0\x08\x08\x08\x080.0.0.1\r\n")

    async with fake_console(scribbles) as console:
        [result] = await run_commands(console.target("ios"), ["show ip"])

    assert result.output == "IP 0.0.0.1"


async def test_output_beyond_the_limit_is_cut_but_read_to_the_prompt() -> None:
    answers = {"show": "\n".join(["x" * 60] * 5000), "show ip": "10.0.0.1"}

    async with fake_console(vpcs(answers)) as console:
        long, short = await run_commands(
            console.target("vpcs"), ["show", "show ip"], output_limit=1000
        )

    assert long.is_truncated
    assert len(long.output) <= 1000
    assert (short.output, short.is_truncated) == ("10.0.0.1", False)


async def test_error_of_the_device_is_told_apart_from_output() -> None:
    answers = {"shwo": 'Bad command: "shwo". Use ? for help.', "show": "fine"}

    async with fake_console(vpcs(answers)) as console:
        wrong, right = await run_commands(console.target("vpcs"), ["shwo", "show"])

    assert wrong.error.startswith("Bad command")
    assert right.error == ""


async def test_several_lines_in_one_string_give_one_result_each() -> None:
    answers = {"show": "a", "show ip": "b"}

    async with fake_console(vpcs(answers)) as console:
        target = console.target("vpcs")
        results = await run_commands(target, ["show\r\n\x03show ip\n\n"])

    assert [(result.command, result.output) for result in results] == [
        ("show", "a"),
        ("show ip", "b"),
    ]


async def test_prompt_that_changes_with_the_name_is_followed() -> None:
    async def renames(peer: Peer) -> None:
        prompt = "PC1> "
        while True:
            await peer.send(prompt)
            line = await peer.line()
            if line.startswith("set pcname"):
                prompt = f"{line.split()[-1]}> "
            await peer.answer(line, {"show": "fine"})

    async with fake_console(renames) as console:
        target = console.target("vpcs")
        results = await run_commands(target, ["set pcname Zoe", "show"])

    assert [result.output for result in results] == ["", "fine"]


async def test_configuration_mode_is_left_for_the_next_one() -> None:
    async with fake_console(ios_router) as console:
        commands = ["configure terminal", "interface f0/0", "no shutdown"]
        results = await run_commands(console.target("ios"), commands)

        assert console.keys.endswith("end\r")
    assert [result.error for result in results] == ["", "", ""]


async def test_log_message_below_the_prompt_does_not_hide_it() -> None:
    async with fake_console(ios_router) as console:
        started = time.monotonic()
        commands = ["configure terminal", "no shutdown", "end"]
        results = await run_commands(console.target("ios"), commands)

    assert [result.output for result in results] == [
        "Enter configuration commands, one per line.",
        "",
        "",
    ]
    assert time.monotonic() - started < 30


async def test_log_message_before_the_command_is_read_is_no_foreign_typing() -> None:
    async with fake_console(ios_router) as console:
        commands = ["configure terminal", "no shutdown", "interface f0/0", "end"]
        results = await run_commands(console.target("ios"), commands)

    assert [result.error for result in results] == ["", "", "", ""]


async def ios_router(peer: Peer) -> None:
    """Knows modes; `no shutdown` is followed by a log message without a new prompt."""
    mode = "#"
    log = "*Mar  1 00:01:02.123: %LINK-3-UPDOWN: Interface f0/0, changed state to up"
    while True:
        await peer.send(f"R1{mode}")
        line = await peer.line()
        while line == "no shutdown":
            await peer.send(f"R1{mode}")
            await asyncio.sleep(0.01)
            await peer.send(f"\r\n{log}\r\n")
            line = await peer.line()
        if line == "configure terminal":
            await peer.send("Enter configuration commands, one per line.\r\n")
            mode = "(config)#"
        elif line.startswith("interface"):
            mode = "(config-if)#"
        elif line == "end":
            mode = "#"


async def test_help_is_shown_without_running_the_rest_of_the_line() -> None:
    ran: list[str] = []

    async def helps_at_once(peer: Peer) -> None:
        line = ""
        await peer.send("R1#")
        while True:
            key = await peer.key()
            if key == "?":
                await peer.send(f"?\r\n  in  Reload after a delay\r\nR1#{line}")
            elif key == "\x15":
                await peer.send("\b \b" * len(line))
                line = ""
            elif key == "\r":
                ran.append(line)
                await peer.send("\r\nR1#")
                line = ""
            else:
                line += key
                await peer.send(key)

    async with fake_console(helps_at_once) as console:
        [result] = await run_commands(console.target("ios"), ["reload ?"])

    assert result.output.strip() == "in  Reload after a delay"
    assert not any(line.startswith("reload") for line in ran)


async def test_saving_is_confirmed_with_the_file_the_device_proposes() -> None:
    async def asks_for_a_name(peer: Peer) -> None:
        while True:
            await peer.send("R1#")
            if await peer.line() == "copy run start":
                await peer.send("Destination filename [startup-config]? ")
                await peer.line()
                await peer.send("Building configuration...\r\n[OK]\r\n")

    async with fake_console(asks_for_a_name) as console:
        [result] = await run_commands(console.target("ios"), ["copy run start"])

    assert result.error == ""
    assert result.output.endswith("[OK]")


async def test_question_nobody_foresaw_is_broken_off_not_answered() -> None:
    async def asks(peer: Peer) -> None:
        while True:
            await peer.send("R1#")
            if await peer.line() == "clear counters":
                await peer.send('Clear "show interface" counters [confirm]')
                while await peer.key() != "\x03":
                    pass
                await peer.send("\r\n")

    async with fake_console(asks) as console:
        target = console.target("ios")
        results = await run_commands(target, ["clear counters", "show clock"])

    assert "[confirm]" in results[0].error
    assert results[1].error == ""


async def test_endless_command_ends_at_the_time_limit_with_what_it_gave() -> None:
    async with fake_console(pings_for_ever) as console:
        started = time.monotonic()
        with pytest.raises(ConsoleTimeout, match="did not end within 1 s") as caught:
            await run_commands(
                console.target("vpcs"), ["ping 10.0.0.2 -t"], time_limit=1
            )

        assert time.monotonic() - started < 30
        assert console.keys.endswith("\x03")
    [result] = caught.value.results
    assert result.is_truncated
    assert "icmp_seq" in result.output


async def test_cancelled_run_ends_the_command_before_it_hangs_up() -> None:
    async with fake_console(pings_for_ever) as console:
        run = asyncio.create_task(
            run_commands(console.target("vpcs"), ["ping 10.0.0.2 -t"])
        )
        await is_typing(console, "ping")

        run.cancel()

        with pytest.raises(asyncio.CancelledError):
            await run
        assert console.keys.endswith("\x03")


async def pings_for_ever(peer: Peer) -> None:
    await answer_marker(peer)
    await peer.line()

    async def ping() -> None:
        number = 0
        while True:
            number += 1
            await peer.send(f"10.0.0.2 icmp_seq={number} ttl=64\r\n")
            await asyncio.sleep(0.02)

    pinging = asyncio.create_task(ping())
    try:
        await peer.hang()
    finally:
        pinging.cancel()


async def test_console_where_another_command_runs_is_busy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def never_gives_a_prompt(peer: Peer) -> None:
        while True:
            await peer.send("10.0.0.2 icmp_seq=1 ttl=64\r\n")
            await asyncio.sleep(0.02)

    for name in ("DRAIN_LIMIT", "PROMPT_LIMIT"):
        monkeypatch.setattr(synchronise, name, 0.5)

    async with fake_console(never_gives_a_prompt) as console:
        with pytest.raises(ConsoleBusy, match="someone else"):
            await run_commands(console.target("vpcs"), ["show ip"])


async def test_foreign_typing_into_a_command_is_reported_with_the_result() -> None:
    async def has_a_second_typist(peer: Peer) -> None:
        await answer_marker(peer)
        line = await peer.line(is_echoed=False)
        typed = f"{line[:4]}foreign{line[4:]}"
        await peer.send(f'{typed}\r\nBad command: "{typed}". Use ? for help.\r\n')
        await peer.serve("\r\n\rPC1> ", {})

    async with fake_console(has_a_second_typist) as console:
        with pytest.raises(ConsoleBusy, match="Someone else typed") as caught:
            await run_commands(console.target("vpcs"), ["show ip", "show arp"])

        assert "show arp" not in console.keys
    [result] = caught.value.results
    assert result.command == "show ip"


async def test_foreign_command_after_ours_is_no_part_of_its_output() -> None:
    async def has_a_second_typist(peer: Peer) -> None:
        await answer_marker(peer)
        await peer.line()
        await peer.send("ours\r\n\r\n\rPC1> show arp\r\nforeign\r\n\r\n\rPC1> ")
        while True:
            await peer.answer(await peer.line(), {"show": "next"})
            await peer.send("\r\n\rPC1> ")

    async with fake_console(has_a_second_typist) as console:
        results = await run_commands(console.target("vpcs"), ["show ip", "show"])

    assert [result.output for result in results] == ["ours", "next"]


async def test_half_typed_line_of_another_client_is_erased_not_run() -> None:
    ran: list[str] = []

    async def has_a_half_typed_line(peer: Peer) -> None:
        line, is_first = "", True
        while True:
            key = await peer.key()
            if key == "\r":
                command = "" if is_first and line == "" else line
                ran.append(command)
                await peer.send("\r\n")
                await peer.answer(command, {"show": "fine"})
                await peer.send("\r\n\rPC1> ")
                line, is_first = "", False
            elif key == "\b":
                line = line[:-1]
            else:
                line += key
                await peer.send(key)

    async with fake_console(has_a_half_typed_line) as console:
        [result] = await run_commands(console.target("vpcs"), ["show"])

        first_return = console.keys.index("\r")
    assert console.keys[:first_return].count("\b") >= 100
    assert result.output == "fine"


async def test_two_calls_on_one_console_take_turns() -> None:
    is_in_use = False

    async def counts(peer: Peer) -> None:
        nonlocal is_in_use
        assert not is_in_use
        is_in_use = True
        try:
            await peer.serve("PC1> ", {"show": "fine"})
        finally:
            is_in_use = False

    async with fake_console(counts) as console:
        target = console.target("vpcs")
        both = await asyncio.gather(*(run_commands(target, ["show"]) for _ in range(2)))

    assert [results[0].output for results in both] == ["fine", "fine"]


async def test_wait_for_another_conversation_is_bounded() -> None:
    async with fake_console(pings_for_ever) as console:
        target = console.target("vpcs")
        holder = asyncio.create_task(run_commands(target, ["ping 10.0.0.2 -t"]))
        await is_typing(console, "ping")

        with pytest.raises(ConsoleBusy, match="another conversation"):
            await run_commands(target, ["show"], time_limit=0.2)

        holder.cancel()
        await asyncio.gather(holder, return_exceptions=True)


async def is_typing(console: FakeConsole, text: str) -> None:
    deadline = time.monotonic() + 5
    # The fake console has no event for what it was sent.
    while text not in console.keys and time.monotonic() < deadline:  # noqa: ASYNC110
        await asyncio.sleep(0.01)


def test_unknown_device_type_names_the_node_and_what_is_allowed() -> None:
    with pytest.raises(ConsoleUnsupported) as caught:
        target_for(
            name="Core-1",
            node_type="qemu",
            device_type="juniper_junos",
            console_type="telnet",
            host="127.0.0.1",
            port=5000,
        )

    for word in ("Core-1", "juniper_junos", "cisco_ios", "vpcs", "device_type:"):
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("node_type", "device_type", "dialect"),
    [
        ("vpcs", "", "vpcs"),
        ("vpcs", "gns3_vpcs_telnet", "vpcs"),
        ("dynamips", "", "ios"),
        ("qemu", "cisco_ios_telnet", "ios"),
        ("iou", "Cisco_IOS", "ios"),
    ],
)
def test_dialect_follows_device_type_then_node_type(
    node_type: str, device_type: str, dialect: str
) -> None:
    target = target_for(
        name="N",
        node_type=node_type,
        device_type=device_type,
        console_type="telnet",
        host="h",
        port=1,
    )

    assert target.dialect == dialect


def test_node_without_a_telnet_console_is_named() -> None:
    with pytest.raises(ConsoleUnsupported, match="Switch1 .* no telnet console"):
        target_for(
            name="Switch1",
            node_type="ethernet_switch",
            device_type="",
            console_type="none",
            host="h",
            port=None,
        )
