"""A restart finds the lab as it was."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from projects.demolab import state
from projects.demolab.generate import random_lab
from projects.demolab.lab import Config
from projects.demolab.server import PortInUse, serve
from projects.demolab.state import Project, State


@pytest.mark.parametrize("seed", range(10))
def test_state_comes_back_equal(tmp_path: Path, seed: int) -> None:
    network, truth = random_lab(seed)
    stored = State({"p": Project("p", "Simulated lab", True, network)}, truth)

    state.write(tmp_path / "lab.json", stored)

    assert state.read(tmp_path / "lab.json") == stored


async def test_restart_keeps_ids_ports_and_what_was_configured(
    tmp_path: Path, client_of: Callable[[Any], Any]
) -> None:
    config = Config(pace=0.001, state_path=tmp_path / "lab.json")
    first = await serve(config)
    client = await client_of(first)
    telnet = await client.telnet("PC1")
    await telnet.until(b"PC1> ")
    await telnet.command("ip 10.0.1.33/24 10.0.1.254", b"\r\n\rPC1> ")
    await telnet.close()
    stopped = await client.node("PC2")
    await client.post(f"{client.project}/nodes/{stopped['node_id']}/stop", status=204)
    before = (await client.http.get(f"{client.project}/nodes")).json()
    await client.http.aclose()
    await first.stop()

    second = await serve(config)
    client = await client_of(second)
    after = (await client.http.get(f"{client.project}/nodes")).json()
    telnet = await client.telnet("PC1")
    await telnet.until(b"PC1> ")
    text = await telnet.command("show ip", b"\r\n\rPC1> ")

    assert after == before
    assert "10.0.1.33/24" in text
    await telnet.close()
    await client.http.aclose()
    await second.stop()


async def test_change_is_on_disk_without_a_clean_end(
    tmp_path: Path, client_of: Callable[[Any], Any]
) -> None:
    path = tmp_path / "lab.json"
    running = await serve(Config(state_path=path))
    client = await client_of(running)

    await client.post("/v3/projects", {"name": "kept"})

    stored = state.read(path)
    assert stored is not None
    assert "kept" in {project.name for project in stored.projects.values()}
    assert os.listdir(tmp_path) == ["lab.json"]
    await client.http.aclose()
    await running.stop()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"projects": 5}', b"\xff\xfe"])
async def test_broken_state_is_set_aside_and_the_default_lab_made(
    tmp_path: Path, content: bytes, client_of: Callable[[Any], Any]
) -> None:
    path = tmp_path / "lab.json"
    path.write_bytes(content)

    running = await serve(Config(state_path=path))
    client = await client_of(running)

    assert (await client.node("PC1"))["status"] == "started"
    aside = [name for name in os.listdir(tmp_path) if ".broken-" in name]
    assert [(tmp_path / name).read_bytes() for name in aside] == [content]
    await client.http.aclose()
    await running.stop()


async def test_second_server_on_the_port_leaves_the_state_alone(tmp_path: Path) -> None:
    path = tmp_path / "lab.json"
    running = await serve(Config())
    port = int(running.url.rpartition(":")[2])
    path.write_bytes(b"untouched")

    with pytest.raises(PortInUse):
        await serve(Config(port=port, state_path=path))

    assert path.read_bytes() == b"untouched"
    await running.stop()


async def test_console_moves_when_its_port_was_taken(
    tmp_path: Path, client_of: Callable[[Any], Any]
) -> None:
    running = await serve(Config(pace=0.001))
    client = await client_of(running)
    one, two = await client.node("PC1"), await client.node("PC2")
    path = f"{client.project}/nodes/{one['node_id']}"
    await client.post(f"{path}/stop", status=204)
    running.lab.state.projects[one["project_id"]].network.named("PC1").console = two[
        "console"
    ]

    await client.post(f"{path}/start", status=204)

    moved = await client.node("PC1")
    assert moved["status"] == "started"
    assert moved["console"] not in (None, two["console"])
    await client.http.aclose()
    await running.stop()
