"""Our GNS3 client and console driver find a GNS3 server with devices here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from projects.consoles.driver import run_commands
from projects.consoles.types import ConsoleTarget
from projects.demolab.faults import FAULTS
from projects.demolab.lab import PROJECT_ID, Config
from projects.demolab.server import RunningLab, serve
from projects.gns3.client import Gns3Client
from projects.gns3.errors import Gns3AuthFailed, Gns3Conflict
from projects.gns3.types import Gns3LinkEnd

DIALECTS = {"vpcs": "vpcs", "dynamips": "ios"}


def client_for(lab: RunningLab, password: str = "admin") -> Gns3Client:
    return Gns3Client(lab.url, username="admin", password=password)


async def run(client: Gns3Client, name: str, *commands: str) -> list[str]:
    """The outputs of commands on a device, through the console driver."""
    node = next(n for n in await client.nodes(PROJECT_ID) if n.name == name)
    assert node.console is not None
    target = ConsoleTarget(
        name, node.console_host, node.console, DIALECTS[node.node_type]
    )
    results = await run_commands(target, commands, time_limit=20.0)
    assert [result.error for result in results] == [""] * len(commands)
    return [result.output for result in results]


async def test_client_reads_the_whole_lab(lab: RunningLab) -> None:
    async with client_for(lab) as client:
        version = await client.version()
        me = await client.me()
        topology = await client.topology(PROJECT_ID)
        templates = await client.templates()

    assert version.is_simulated
    assert me.username == "admin"
    assert topology.project.name == "Simulated lab"
    assert {node.name for node in topology.nodes} >= {"PC1", "PC2", "R1", "R2"}
    assert len(topology.links) == 5
    assert {t.name for t in templates} == {
        "VPCS",
        "Ethernet switch",
        "Simulated router",
    }


async def test_client_changes_the_lab(lab: RunningLab) -> None:
    async with client_for(lab) as client:
        template = next(t for t in await client.templates() if t.name == "VPCS")
        one, two = [
            await client.create_node(
                PROJECT_ID, template_id=template.template_id, x=0, y=0, name=name
            )
            for name in ("desk1", "desk2")
        ]
        ends = [Gns3LinkEnd(node.node_id, 0, 0) for node in (one, two)]
        await client.create_link(PROJECT_ID, *ends)
        with pytest.raises(Gns3Conflict):
            await client.create_link(PROJECT_ID, *ends)
        await client.start_node(PROJECT_ID, one.node_id)
        await client.stop_node(PROJECT_ID, one.node_id)
        await client.delete_node(PROJECT_ID, two.node_id)
        names = {node.name for node in await client.nodes(PROJECT_ID)}
        project = await client.create_project("second")
        await client.close_project(project.project_id)
        reopened = await client.open_project(project.project_id)
        await client.delete_project(project.project_id)

    assert (one.name, two.name) == ("desk1", "desk2")
    assert "desk1" in names
    assert "desk2" not in names
    assert reopened.status == "opened"


async def test_client_is_refused_with_a_wrong_password(lab: RunningLab) -> None:
    async with client_for(lab, "wrong") as client:
        with pytest.raises(Gns3AuthFailed):
            await client.projects()


async def test_driver_reads_both_dialects(lab: RunningLab) -> None:
    async with client_for(lab) as client:
        address, ping = await run(client, "PC1", "show ip", "ping 10.0.1.254 -c 2")
        again = await run(client, "PC1", "ping 10.0.2.10 -c 2", "show arp")
        config, brief = await run(
            client, "R2", "show running-config", "show ip interface brief"
        )

    assert "IP/MASK     : 10.0.1.10/24" in address
    assert ping.count("84 bytes from 10.0.1.254") == 2
    assert "icmp_seq=2 timeout" in again[0]
    assert config.rstrip().endswith("end")
    assert "--More--" not in config
    assert "10.0.12.2" in brief


async def test_driver_repairs_the_default_lab(lab: RunningLab) -> None:
    async with client_for(lab) as client:
        await run(
            client,
            "R2",
            "configure terminal",
            "ip route 10.0.1.0 255.255.255.0 10.0.12.1",
            "end",
        )
        (ping,) = await run(client, "PC1", "ping 10.0.2.10 -c 1")

    assert "84 bytes from 10.0.2.10 icmp_seq=1 ttl=62" in ping


@pytest.mark.parametrize("fault", FAULTS)
async def test_driver_sees_the_ping_of_the_question_fail(
    fault: str, client_of: Callable[[Any], Any]
) -> None:
    running = await serve(Config(pace=0.0))
    truth = await running.lab.reset(fault, 11)
    words = truth.question.removesuffix("?").split()
    network = running.lab.state.projects[PROJECT_ID].network
    target = network.named(words[4])
    assert target.host is not None
    assert target.host.address is not None

    async with client_for(running) as client:
        command = f"ping {target.host.address.ip} -c 1"
        (text,) = await run(client, words[2], command)

    assert "bytes from" not in text
    await running.stop()
