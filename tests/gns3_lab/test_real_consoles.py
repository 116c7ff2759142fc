"""The console driver against real VPCS nodes behind GNS3's console server."""

import asyncio
from collections.abc import Sequence

import pytest

from projects.consoles import (
    ConsoleRefused,
    ConsoleTarget,
    ConsoleTimeout,
    run_commands,
)
from projects.gns3 import Gns3Client, Gns3Project
from tests.gns3_lab.labs import console_of, create_pc, start_two_pcs

pytestmark = [pytest.mark.gns3, pytest.mark.needs("gns3", "vpcs")]


@pytest.fixture
async def pcs(
    client: Gns3Client, project: Gns3Project
) -> tuple[ConsoleTarget, ConsoleTarget]:
    return await start_two_pcs(client, project.project_id)


Pcs = tuple[ConsoleTarget, ConsoleTarget]


async def set_addresses(pcs: Pcs) -> None:
    """Both at once: each address takes VPCS 3 s, for its duplicate check."""
    commands = ("ip 10.0.0.1/24", "ip 10.0.0.2/24")
    await asyncio.gather(
        *(run_commands(pc, [line]) for pc, line in zip(pcs, commands, strict=True))
    )


async def outputs(target: ConsoleTarget, commands: Sequence[str]) -> list[str]:
    return [result.output for result in await run_commands(target, commands)]


async def test_addresses_are_set_on_two_devices_at_once_and_they_reach_each_other(
    pcs: Pcs,
) -> None:
    await set_addresses(pcs)

    shown, ping, nobody, arp = await outputs(
        pcs[0], ["show ip", "ping 10.0.0.2 -c 2", "ping 10.0.0.77 -c 1", "show arp"]
    )

    assert "IP/MASK     : 10.0.0.1/24" in shown
    assert shown.startswith("NAME        : Left[1]")
    assert ping.count("icmp_seq=") == 2
    assert nobody == "host (10.0.0.77) not reachable"
    assert "10.0.0.2" in arp


async def test_wrong_command_is_an_error_and_the_next_one_still_runs(pcs: Pcs) -> None:
    wrong, right = await run_commands(pcs[0], ["shwo ip", "show ip"])

    assert wrong.error == 'Bad command: "shwo ip". Use ? for help.'
    assert (right.error, "IP/MASK" in right.output) == ("", True)


async def test_help_holds_no_escape_sequences(pcs: Pcs) -> None:
    [text] = await outputs(pcs[0], ["?"])

    assert "Shortcut for: show arp" in text
    assert "\x1b" not in text


async def test_second_client_is_shown_nothing_but_gets_its_answer(pcs: Pcs) -> None:
    reader, writer = await asyncio.open_connection(pcs[0].host, pcs[0].port)
    await asyncio.wait_for(reader.readuntil(b"VPCS"), 5)

    [shown] = await outputs(pcs[0], ["show ip"])

    assert "IP/MASK" in shown
    writer.close()


async def test_half_typed_line_of_a_person_is_not_run(pcs: Pcs) -> None:
    _, writer = await asyncio.open_connection(pcs[0].host, pcs[0].port)
    writer.write(b"set pcname X")
    await writer.drain()

    shown, history = await outputs(pcs[0], ["show ip", "history"])

    assert shown.startswith("NAME        : Left[1]")
    assert "set pcname" not in history
    writer.close()


async def test_ping_of_a_person_is_waited_for_not_interrupted(pcs: Pcs) -> None:
    await set_addresses(pcs)
    reader, writer = await asyncio.open_connection(pcs[0].host, pcs[0].port)
    writer.write(b"ping 10.0.0.2 -c 4\r")
    await asyncio.wait_for(reader.readuntil(b"icmp_seq=1"), 10)

    [shown] = await outputs(pcs[0], ["show ip"])

    seen = await asyncio.wait_for(reader.readuntil(b"icmp_seq=4"), 5)
    assert shown.startswith("NAME        : Left[1]")
    assert b"^C" not in seen
    writer.close()


async def test_endless_ping_is_interrupted_at_the_limit_and_the_console_is_free(
    pcs: Pcs,
) -> None:
    await set_addresses(pcs)

    with pytest.raises(ConsoleTimeout) as caught:
        await run_commands(pcs[0], ["show", "ping 10.0.0.2 -t"], time_limit=4)
    async with asyncio.timeout(60):
        [shown] = await outputs(pcs[0], ["show ip"])

    first, cut = caught.value.results
    assert (first.error, cut.is_truncated, "icmp_seq=" in cut.output) == (
        "",
        True,
        True,
    )
    assert "IP/MASK" in shown


async def test_cancelled_ping_leaves_the_console_free(pcs: Pcs) -> None:
    await set_addresses(pcs)
    reader, writer = await asyncio.open_connection(pcs[0].host, pcs[0].port)
    run = asyncio.create_task(run_commands(pcs[0], ["ping 10.0.0.2 -t"]))
    await asyncio.wait_for(reader.readuntil(b"icmp_seq=2"), 10)

    run.cancel()
    await asyncio.gather(run, return_exceptions=True)
    async with asyncio.timeout(60):
        [shown] = await outputs(pcs[0], ["show ip"])

    assert "IP/MASK" in shown
    writer.close()


async def test_changed_name_is_followed(pcs: Pcs) -> None:
    results = await run_commands(pcs[0], ["set pcname Zoe", "show ip"])

    assert "NAME        : Zoe[1]" in results[1].output


async def test_stopped_node_refuses_at_once_and_is_named(
    client: Gns3Client, project: Gns3Project
) -> None:
    node = await create_pc(client, project.project_id, "Idle")

    with pytest.raises(ConsoleRefused, match=f"Idle .127.0.0.1:{node.console}."):
        async with asyncio.timeout(60):
            await run_commands(console_of(node), ["show ip"])
