"""The simulated server answers with GNS3's shapes, statuses and messages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from projects.demolab.faults import FAULTS
from projects.demolab.lab import PROJECT_ID, Config
from projects.demolab.server import RunningLab, serve

VPCS = "52136454-1f50-590a-94e4-816bd02d1062"
UNKNOWN = "00000000-0000-0000-0000-000000000000"


async def router_template(client: Any) -> str:
    templates = (await client.http.get("/v3/templates")).json()
    return next(t["template_id"] for t in templates if t["name"] == "Simulated router")


def end(node: dict[str, Any], adapter: int = 0, port: int = 0) -> dict[str, Any]:
    return {
        "node_id": node["node_id"],
        "adapter_number": adapter,
        "port_number": port,
    }


async def test_version_is_public_and_says_simulated(lab: RunningLab) -> None:
    async with httpx.AsyncClient(base_url=lab.url) as http:
        answer = await http.get("/v3/version")

    assert answer.status_code == 200
    assert answer.json()["simulated"] is True
    assert answer.json()["version"].startswith("3.")


@pytest.mark.parametrize(
    "path",
    [
        "/v3/projects",
        "/v3/access/users/me",
        "/v3/simulator",
        "/v3/nothing",
        f"/v3/projects/{PROJECT_ID}/nodes",
    ],
)
async def test_without_a_token_nothing_is_told(lab: RunningLab, path: str) -> None:
    async with httpx.AsyncClient(base_url=lab.url) as http:
        answer = await http.get(path)

    assert answer.status_code == 401
    assert answer.json() == {"message": "Not authenticated"}
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("token", ["x", "a.b.c", "é.ü", "..", "eyJ9.e30.AAAA"])
async def test_forged_token_is_refused(lab: RunningLab, token: str) -> None:
    headers = {b"Authorization": f"Bearer {token}".encode()}
    async with httpx.AsyncClient(base_url=lab.url) as http:
        answer = await http.get("/v3/projects", headers=headers)

    assert answer.status_code == 401
    assert answer.json() == {"message": "Could not validate credentials"}


async def test_expired_token_is_refused(client_of: Callable[[Any], Any]) -> None:
    running = await serve(Config(token_lifetime=-1.0))
    client = await client_of(running)

    answer = await client.http.get("/v3/projects")

    assert answer.status_code == 401
    assert answer.json() == {"message": "Token has expired"}
    await client.http.aclose()
    await running.stop()


async def test_wrong_password_is_refused_in_the_words_of_gns3(lab: RunningLab) -> None:
    login = {"username": "admin", "password": "wrong"}
    async with httpx.AsyncClient(base_url=lab.url) as http:
        as_json = await http.post("/v3/access/users/authenticate", json=login)
        as_form = await http.post("/v3/access/users/login", data=login)

    for answer in (as_json, as_form):
        assert answer.status_code == 401
        assert answer.json() == {"message": "Authentication was unsuccessful."}


async def test_form_login_gives_a_token(lab: RunningLab) -> None:
    login = {"username": "admin", "password": "admin"}
    async with httpx.AsyncClient(base_url=lab.url) as http:
        token = (await http.post("/v3/access/users/login", data=login)).json()
        answer = await http.get(
            "/v3/access/users/me", params={"token": token["access_token"]}
        )

    assert token["token_type"] == "bearer"
    assert answer.json()["username"] == "admin"


async def test_lab_is_named_simulated_and_opened(client: Any) -> None:
    projects = (await client.http.get("/v3/projects")).json()

    assert [(p["name"], p["status"]) for p in projects] == [("Simulated lab", "opened")]


async def test_nodes_have_the_keys_of_gns3(client: Any) -> None:
    nodes = (await client.http.get(f"{client.project}/nodes")).json()

    by_name = {node["name"]: node for node in nodes}
    assert set(by_name) == {"PC1", "PC2", "R1", "R2", "SW1", "SW2"}
    assert {node["status"] for node in nodes} == {"started"}
    assert {n["name"]: n["console_type"] for n in nodes}["SW1"] == "none"
    assert by_name["SW1"]["console"] is None
    assert by_name["R1"]["node_type"] == "dynamips"
    assert by_name["R1"]["ports"][1] == {
        "name": "FastEthernet0/1",
        "short_name": "f0/1",
        "adapter_number": 0,
        "port_number": 1,
        "adapter_type": None,
        "mac_address": by_name["R1"]["ports"][1]["mac_address"],
        "link_type": "ethernet",
        "data_link_types": {"Ethernet": "DLT_EN10MB"},
    }


async def test_unknown_things_are_404_in_two_shapes(client: Any) -> None:
    project = await client.http.get(f"/v3/projects/{UNKNOWN}")
    node = await client.http.get(f"{client.project}/nodes/{UNKNOWN}")
    route = await client.http.get("/v3/nothing")
    method = await client.http.delete("/v3/version")

    assert project.status_code == 404
    assert project.json() == {"message": f"Project ID {UNKNOWN} doesn't exist"}
    assert node.json() == {"message": f"Node ID {UNKNOWN} doesn't exist"}
    assert (route.status_code, route.json()) == (404, {"detail": "Not Found"})
    assert (method.status_code, method.json()) == (
        405,
        {"detail": "Method Not Allowed"},
    )


async def test_project_lives_from_create_to_delete(client: Any) -> None:
    project = await client.post("/v3/projects", {"name": "mine"})
    path = f"/v3/projects/{project['project_id']}"
    taken = await client.post("/v3/projects", {"name": "mine"}, status=409)
    await client.post(f"{path}/nodes", {"name": "PC1", "node_type": "vpcs"})
    await client.post(f"{path}/close", status=204)

    closed = (await client.http.get(path)).json()
    nodes = (await client.http.get(f"{path}/nodes")).json()
    refused = await client.post(f"{path}/templates/{VPCS}", {"x": 0, "y": 0}, 403)
    opened = await client.post(f"{path}/open")
    deleted = await client.http.delete(path)
    again = await client.http.delete(path)

    assert project["status"] == "opened"
    assert taken == {"message": 'Project "mine" already exists'}
    assert closed["status"] == "closed"
    assert nodes == []
    assert refused == {"message": "The project is not opened"}
    assert opened["status"] == "opened"
    assert (deleted.status_code, again.status_code) == (204, 404)


async def test_node_from_template_ignores_the_name_as_gns3_does(client: Any) -> None:
    path = f"{client.project}/templates/{VPCS}"

    node = await client.post(path, {"x": 10, "y": 20, "name": "mine"})

    assert (node["name"], node["status"]) == ("PC3", "stopped")
    assert (node["x"], node["y"]) == (10, 20)
    assert isinstance(node["console"], int)


async def test_node_needs_whole_coordinates(client: Any) -> None:
    await client.post(f"{client.project}/templates/{VPCS}", {"x": 1.5, "y": 0}, 422)
    await client.post(f"{client.project}/templates/{VPCS}", {}, 422)
    await client.post(f"{client.project}/templates/{UNKNOWN}", {"x": 0, "y": 0}, 404)


async def test_node_is_renamed_only_while_stopped(client: Any) -> None:
    node = await client.node("PC1")
    path = f"{client.project}/nodes/{node['node_id']}"

    refused = await client.http.put(path, json={"name": "desk"})
    moved = await client.http.put(path, json={"x": 5, "y": 6})
    await client.post(f"{path}/stop", status=204)
    renamed = await client.http.put(path, json={"name": "desk 1!"})

    assert refused.status_code == 409
    assert refused.json() == {
        "message": "Sorry, it is not possible to rename a node "
        "that is already powered on"
    }
    assert (moved.json()["x"], moved.json()["y"]) == (5, 6)
    assert renamed.json()["name"] == "desk1"


async def test_start_and_stop_may_be_repeated(client: Any) -> None:
    node = await client.node("R1")
    path = f"{client.project}/nodes/{node['node_id']}"

    for action in ("start", "stop", "stop", "start", "suspend", "reload"):
        await client.post(f"{path}/{action}", status=204)
    await client.post(f"{client.project}/nodes/stop", status=204)
    stopped = (await client.http.get(f"{client.project}/nodes")).json()
    await client.post(f"{client.project}/nodes/start", status=204)

    assert {n["name"] for n in stopped if n["status"] == "started"} == {"SW1", "SW2"}
    assert (await client.node("R1"))["status"] == "started"


async def test_deleted_node_takes_its_links_along(client: Any) -> None:
    node = await client.node("R1")
    path = f"{client.project}/nodes/{node['node_id']}"

    answers = [(await client.http.delete(path)).status_code for _ in range(2)]
    links = (await client.http.get(f"{client.project}/links")).json()

    assert answers == [204, 404]
    assert all(e["node_id"] != node["node_id"] for k in links for e in k["nodes"])


async def test_links_are_checked(client: Any) -> None:
    links = f"{client.project}/links"
    one = await client.post(f"{client.project}/templates/{VPCS}", {"x": 0, "y": 0})
    two = await client.post(f"{client.project}/templates/{VPCS}", {"x": 0, "y": 0})
    used = await client.node("PC1")

    busy = await client.post(links, {"nodes": [end(one), end(used)]}, 409)
    absent = await client.post(links, {"nodes": [end(one, 3), end(two)]}, 404)
    await client.post(links, {"nodes": [end(one)]}, 422)
    await client.post(links, {"nodes": [end(one), end({"node_id": UNKNOWN})]}, 404)
    await client.post(links, {"nodes": [end(one), end(one)]}, 409)
    link = await client.post(links, {"nodes": [end(one), end(two)]})

    assert busy == {"message": "Port is already used"}
    assert absent == {"message": "Port 3/0 for PC3 not found"}
    assert link["suspend"] is False
    assert {e["node_id"] for e in link["nodes"]} == {one["node_id"], two["node_id"]}


async def test_suspended_link_carries_nothing_until_it_is_resumed(client: Any) -> None:
    node = await client.node("PC1")
    path = f"{client.project}/nodes/{node['node_id']}/links"
    link = (await client.http.get(path)).json()[0]
    telnet = await client.telnet("PC1")
    await telnet.until(b"PC1> ")

    async def ping() -> str:
        return str(await telnet.command("ping 10.0.1.254 -c 1", b"\r\n\rPC1> "))

    link_path = f"{client.project}/links/{link['link_id']}"
    suspended = await client.http.put(link_path, json={"suspend": True})
    without = await ping()
    await client.http.put(link_path, json={"suspend": False})
    await client.post(f"{link_path}/reset", status=200)

    assert suspended.json()["suspend"] is True
    assert "host (10.0.1.254) not reachable" in without
    assert "84 bytes from 10.0.1.254" in await ping()
    await telnet.close()


async def test_lab_built_by_the_api_works(client: Any) -> None:
    nodes, links = f"{client.project}/nodes", f"{client.project}/links"
    template = await router_template(client)
    router = await client.post(
        f"{client.project}/templates/{template}", {"x": 0, "y": 0}
    )
    pc = await client.post(f"{client.project}/templates/{VPCS}", {"x": 0, "y": 0})
    await client.post(links, {"nodes": [end(pc), end(router, 1)]})
    for node in (router, pc):
        await client.post(f"{nodes}/{node['node_id']}/start", status=204)
    console = await client.telnet("R3")
    await console.until(b"R3#")
    for line in ("conf t", "int f1/0", "ip address 10.5.0.1 255.255.255.0", "no shut"):
        await console.command(line, b"#")
    host = await client.telnet("PC3")
    await host.until(b"PC3> ")

    await host.command("ip 10.5.0.2/24 10.5.0.1", b"\r\n\rPC3> ")
    text = await host.command("ping 10.5.0.1 -c 1", b"\r\n\rPC3> ")

    assert "84 bytes from 10.5.0.1 icmp_seq=1 ttl=255" in text
    await console.close()
    await host.close()


@pytest.mark.parametrize("fault", FAULTS)
async def test_reset_plants_the_fault_asked_for(client: Any, fault: str) -> None:
    before = (await client.http.get(f"{client.project}/nodes")).json()

    truth = await client.post("/v3/simulator/reset", {"fault": fault, "seed": 7}, 200)
    shown = (await client.http.get("/v3/simulator")).json()
    nodes = (await client.http.get(f"{client.project}/nodes")).json()

    assert truth == shown
    assert (truth["fault"], truth["seed"]) == (fault, 7)
    assert truth["question"].startswith("Why can't ")
    assert truth["device"] in {node["name"] for node in nodes}
    assert {n["node_id"] for n in before}.isdisjoint(n["node_id"] for n in nodes)


async def test_reset_without_arguments_brings_the_default_lab_back(client: Any) -> None:
    first = (await client.http.get("/v3/simulator")).json()
    await client.post("/v3/simulator/reset", {"seed": 3}, 200)

    again = await client.post("/v3/simulator/reset", {"fault": None, "seed": None}, 200)

    assert again == first
    assert (await client.node("PC1"))["status"] == "started"


@pytest.mark.parametrize(
    "data", [{"fault": "nonsense"}, {"fault": 5}, {"seed": "x"}, [], "text"]
)
async def test_wrong_reset_is_refused_and_changes_nothing(
    client: Any, data: object
) -> None:
    answer = await client.http.post("/v3/simulator/reset", json=data)

    assert answer.status_code == 422
    assert "message" in answer.json()
    assert (await client.node("PC1"))["status"] == "started"


async def test_broken_json_is_422(client: Any) -> None:
    answer = await client.http.post("/v3/projects", content=b"{")

    assert answer.status_code == 422


@pytest.mark.parametrize("path", ["/v3/notifications", ""])
async def test_notifications_start_with_a_ping_and_tell_changes(
    client: Any, path: str
) -> None:
    stream_path = path or f"{client.project}/notifications"
    seen = []
    async with client.http.stream("GET", stream_path) as stream, asyncio.timeout(10):
        lines = stream.aiter_lines()
        seen.append(json.loads(await anext(lines)))
        node = await client.node("PC2")
        await client.post(f"{client.project}/nodes/{node['node_id']}/stop", status=204)
        await client.post("/v3/projects", {"name": "other"})
        seen.append(json.loads(await anext(lines)))

    assert seen[0]["action"] == "ping"
    if path:
        assert seen[1]["action"] == "project.created"
    else:
        assert seen[1]["action"] == "node.updated"
        assert seen[1]["event"]["status"] == "stopped"


async def test_statistics_name_the_simulated_compute(client: Any) -> None:
    statistics = (await client.http.get("/v3/statistics")).json()

    assert statistics[0]["compute_id"] == "local"
    assert "Simulated" in statistics[0]["compute_name"]
