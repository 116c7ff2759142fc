"""The agent on a real GNS3 server with real VPCS: builds a lab and pings in it."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from projects.gns3 import Gns3Client, Gns3Project
from tests.fakes.provider import Answer, ScriptedProvider, Wire, calls
from tests.gns3_lab.fixtures import gns3_server
from tests.gns3_lab.rig import Gns3Server
from tests.stack import Stack
from tests.stack_client import TRANSPORTS, follow, texts

__all__ = ["gns3_server"]

pytestmark = [
    pytest.mark.gns3,
    pytest.mark.needs("gns3", "vpcs", "valkey", "celery"),
    pytest.mark.asyncio(loop_scope="module"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def project(gns3_server: Gns3Server) -> AsyncIterator[Gns3Project]:
    async with Gns3Client(
        gns3_server.url, username=gns3_server.username, password=gns3_server.password
    ) as client:
        project = await client.create_project("built-by-the-agent")
        yield project
        await client.delete_project(project.project_id)


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def stack(
    gns3_server: Gns3Server,
    project: Gns3Project,
    model: ScriptedProvider,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stack]:
    env = {
        "GNS3_URL": gns3_server.url,
        "GNS3_USERNAME": gns3_server.username,
        "GNS3_PASSWORD": gns3_server.password,
        "LLM_BASE_URL": model.url,
        "LLM_MODEL": "scripted",
    }
    folder = tmp_path_factory.mktemp("real")
    with Stack(folder, env=env, has_lab=False) as stack:
        yield stack


def quotes_last_result(model: ScriptedProvider) -> Answer:
    """A fenced quotation of what the last tool returned."""

    async def play(wire: Wire) -> None:
        results = [m for m in model.requests[-1].messages if m["role"] == "tool"]
        await wire.delta({"content": f"PC1 reaches PC2: {results[-1]['content']}"})
        await wire.end("stop", (10, 5))

    return Answer(play)


def on_pc(*lines: tuple[str, str]) -> Answer:
    devices = [{"device": device, "commands": [line]} for device, line in lines]
    return calls(("run_commands", {"devices": devices}))


async def test_two_pcs_are_built_started_addressed_and_reach_each_other(
    stack: Stack, model: ScriptedProvider, project: Gns3Project
) -> None:
    nodes = [{"template": "VPCS", "name": name} for name in ("PC1", "PC2")]
    model.script(
        calls(("create_nodes", {"nodes": nodes})),
        calls(("create_links", {"links": [{"node_a": "PC1", "node_b": "PC2"}]})),
        calls(("start_nodes", {"nodes": ["PC1", "PC2"]})),
        on_pc(("PC1", "ip 10.0.0.1/24"), ("PC2", "ip 10.0.0.2/24")),
        on_pc(("PC1", "ping 10.0.0.2 -c 3")),
        quotes_last_result(model),
    )
    assert stack.project_id == project.project_id

    session = stack.post("Build two PCs and ping.")["session_id"]
    following = asyncio.gather(
        *(follow(stack, session, transport=way) for way in TRANSPORTS.values())
    )
    shown = [await asyncio.to_thread(stack.approve, session) for _ in range(4)]
    by_sse, by_socket = await following

    assert [rows[0]["summary"] for rows in shown] == [
        "Create PC1 (VPCS), PC2 (VPCS)",
        "Connect PC1 – PC2",
        "Start PC1, PC2",
        "Run lines that change PC1 (1 of 1), PC2 (1 of 1)",
    ]
    assert all("NAME" in part["before"] for part in shown[3][0]["devices"])

    ends = [event for event in by_sse if event["type"] == "tool_end"]
    assert [(end["tool_name"], end["status"]) for end in ends] == [
        ("create_nodes", "ok"),
        ("create_links", "ok"),
        ("start_nodes", "ok"),
        ("run_commands", "ok"),
        ("run_commands", "ok"),
    ]
    assert '"failed":[]' in ends[0]["tool_output"] + ends[1]["tool_output"]
    (answer,) = texts(by_sse).values()
    for number in (1, 2, 3):
        assert f"10.0.0.2 icmp_seq={number} ttl=64" in answer
    assert by_sse[-1]["status"] == "succeeded"
    assert by_socket == by_sse
    topology = stack.call("GET", f"/v3/projects/{project.project_id}/topology").json()
    assert topology["is_simulated"] is False
    assert {node["name"]: node["status"] for node in topology["nodes"]} == {
        "PC1": "started",
        "PC2": "started",
    }
    assert len(topology["links"]) == 1
    last = stack.history(session)[-1]
    assert last["metadata"]["lab"] == "real"
