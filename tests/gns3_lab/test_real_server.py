"""The client against a real GNS3 server."""

import pytest

from projects.gns3 import (
    Gns3AuthFailed,
    Gns3Client,
    Gns3Conflict,
    Gns3Error,
    Gns3LinkEnd,
    Gns3NotFound,
    Gns3Project,
    Gns3ProjectNotOpened,
)
from tests.gns3_lab.labs import create_pc, first_port
from tests.gns3_lab.rig import GNS3_VERSION, Gns3Server

pytestmark = [pytest.mark.gns3, pytest.mark.needs("gns3", "vpcs")]

UNKNOWN = "00000000-0000-4000-8000-000000000000"


async def test_version_and_account_are_read(client: Gns3Client) -> None:
    version = await client.version()
    user = await client.me()

    assert (version.version, version.is_simulated) == (GNS3_VERSION, False)
    assert (user.username, user.is_superadmin) == ("admin", True)


async def test_wrong_password_is_refused(gns3_server: Gns3Server) -> None:
    async with Gns3Client(gns3_server.url, username="admin", password="no") as client:
        with pytest.raises(Gns3AuthFailed):
            await client.projects()


async def test_forged_token_is_refused(gns3_server: Gns3Server) -> None:
    async with Gns3Client(gns3_server.url, token="a.b.c") as client:
        with pytest.raises(Gns3AuthFailed):
            await client.projects()


async def test_forged_token_is_replaced_when_there_is_a_password(
    gns3_server: Gns3Server,
) -> None:
    async with Gns3Client(
        gns3_server.url,
        username=gns3_server.username,
        password=gns3_server.password,
        token="a.b.c",
    ) as client:
        assert (await client.me()).username == "admin"


async def test_project_is_created_closed_opened_and_listed(
    client: Gns3Client, project: Gns3Project
) -> None:
    assert project.status == "opened"

    await client.close_project(project.project_id)
    closed = await client.project(project.project_id)
    opened = await client.open_project(project.project_id)

    assert (closed.status, opened.status) == ("closed", "opened")
    assert project.project_id in [each.project_id for each in await client.projects()]


async def test_second_project_of_a_name_is_refused(
    client: Gns3Client, project: Gns3Project
) -> None:
    with pytest.raises(Gns3Conflict, match="Choose a name"):
        await client.create_project(project.name)


async def test_closed_project_has_no_nodes_and_takes_none(
    client: Gns3Client, project: Gns3Project
) -> None:
    await client.close_project(project.project_id)

    topology = await client.topology(project.project_id)
    with pytest.raises(Gns3ProjectNotOpened, match="Open it first"):
        await create_pc(client, project.project_id, "PC1")

    assert (topology.project.status, topology.nodes) == ("closed", ())


async def test_node_is_created_under_its_name_started_and_stopped(
    client: Gns3Client, project: Gns3Project
) -> None:
    node = await create_pc(client, project.project_id, "Alice")
    await client.start_node(project.project_id, node.node_id)
    [running] = await client.nodes(project.project_id)
    await client.stop_node(project.project_id, node.node_id)
    [stopped] = await client.nodes(project.project_id)

    assert (node.name, node.node_type, node.status) == ("Alice", "vpcs", "stopped")
    assert (running.status, stopped.status) == ("started", "stopped")
    assert running.console == node.console
    assert [port.short_name for port in node.ports] == ["e0"]


async def test_link_takes_its_ports_and_deleting_a_node_frees_them(
    client: Gns3Client, project: Gns3Project
) -> None:
    left = await create_pc(client, project.project_id, "Left")
    right = await create_pc(client, project.project_id, "Right")

    link = await client.create_link(
        project.project_id, first_port(left), first_port(right)
    )
    linked = await client.topology(project.project_id)
    await client.delete_node(project.project_id, right.node_id)
    left_alone = await client.topology(project.project_id)

    assert {end.node_id for end in link.ends} == {left.node_id, right.node_id}
    assert linked.links == (link,)
    assert linked.free_ports(left.node_id) == []
    assert left_alone.links == ()
    assert left_alone.free_ports(left.node_id) == list(left.ports)


async def test_failed_link_leaves_the_port_free_for_another_one(
    client: Gns3Client, project: Gns3Project
) -> None:
    left = await create_pc(client, project.project_id, "Left")
    right = await create_pc(client, project.project_id, "Right")

    end = first_port(left)

    with pytest.raises(Gns3Error):
        await client.create_link(project.project_id, end, end)
    topology = await client.topology(project.project_id)
    link = await client.create_link(
        project.project_id, first_port(left), first_port(right)
    )

    assert topology.free_ports(left.node_id) == list(left.ports)
    assert (await client.links(project.project_id)) == [link]


async def test_used_port_is_a_conflict_without_the_servers_log(
    client: Gns3Client, project: Gns3Project
) -> None:
    nodes = [await create_pc(client, project.project_id, f"P{n}") for n in range(3)]
    ends = [first_port(node) for node in nodes]
    await client.create_link(project.project_id, ends[0], ends[1])

    with pytest.raises(Gns3Conflict) as caught:
        await client.create_link(project.project_id, ends[0], ends[2])

    assert "/" not in str(caught.value)


async def test_unknown_project_node_port_and_template_are_not_found(
    client: Gns3Client, project: Gns3Project
) -> None:
    node = await create_pc(client, project.project_id, "PC1")
    other = await create_pc(client, project.project_id, "PC2")
    no_port = Gns3LinkEnd(node.node_id, 3, 0)

    for call in (
        client.project(UNKNOWN),
        client.start_node(project.project_id, UNKNOWN),
        client.create_link(project.project_id, no_port, first_port(other)),
        client.create_node(project.project_id, template_id=UNKNOWN, x=0, y=0),
    ):
        with pytest.raises(Gns3NotFound):
            await call


async def test_node_that_needs_a_missing_program_says_so(
    client: Gns3Client, project: Gns3Project
) -> None:
    templates = await client.templates()
    switch = next(t for t in templates if t.template_type == "ethernet_switch")

    with pytest.raises(Gns3Conflict, match="no Dynamips"):
        await client.create_node(
            project.project_id, template_id=switch.template_id, x=0, y=0
        )
