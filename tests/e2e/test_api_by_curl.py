"""What a person sees who has nothing but curl."""

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.provider import ScriptedProvider, calls, says
from tests.stack import PASSWORDS, Stack

pytestmark = [pytest.mark.faults, pytest.mark.needs("valkey", "celery")]


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def stack(
    model: ScriptedProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    env = {"LLM_BASE_URL": model.url, "LLM_MODEL": "scripted"}
    with Stack(tmp_path_factory.mktemp("curl"), env=env) as stack:
        yield stack


def curl(*words: str) -> str:
    done = subprocess.run(
        ["curl", "-sN", "--max-time", "60", *words],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_two_parallel_calls_print_the_frames_of_the_specification(
    stack: Stack, model: ScriptedProvider
) -> None:
    wanted = {"devices": [{"device": "PC1", "commands": ["show ip"]}]}
    model.script(
        calls(
            ("run_commands", wanted),
            ("read_topology", {}),
            ids=["call_a", "call_b"],
        ),
        says("Both are done."),
    )
    login = json.dumps({"username": "demo", "password": PASSWORDS["demo"]})
    kind = "Content-Type: application/json"
    url = f"{stack.url}/v3/access/users/authenticate"
    token = json.loads(curl("-H", kind, "-d", login, url))["access_token"]

    printed = curl(
        *("-H", kind, "-H", f"Authorization: Bearer {token}"),
        *("-d", '{"message": "Look at PC1."}'),
        f"{stack.url}{stack.chat_path}/stream",
    )

    frames = [frame.splitlines() for frame in printed.strip().split("\n\n")]
    events: list[dict[str, Any]] = []
    for number, (head, data) in enumerate(frames, start=1):
        assert head == f"id: 1.{number}"
        assert data.startswith("data: {")
        events.append(json.loads(data.removeprefix("data: ")))
    assert events[-1]["type"] == "done"
    assert {event["session_id"] for event in events} == {events[0]["session_id"]}
    for call_id, name, arguments in (
        ("call_a", "run_commands", wanted),
        ("call_b", "read_topology", {}),
    ):
        own = [event for event in events if event.get("tool_call_id") == call_id]
        kinds = [event["type"] for event in own]
        count = kinds.count("tool_call")
        assert kinds == ["tool_call"] * count + ["tool_start", "tool_end"]
        written = [event["tool_call"] for event in own[:count]]
        assert written[0] == {
            "id": call_id,
            "type": "function",
            "function": {"name": name, "arguments": ""},
        }
        growing = [call["function"]["arguments"] for call in written]
        assert all(b.startswith(a) for a, b in zip(growing, growing[1:], strict=False))
        assert [call["function"].get("complete") for call in written] == [
            *[None] * (count - 1),
            True,
        ]
        assert json.loads(growing[-1]) == arguments
        assert own[-2]["tool_name"] == own[-1]["tool_name"] == name
    results = {e["tool_call_id"]: e for e in events if e["type"] == "tool_end"}
    assert "IP/MASK" in results["call_a"]["tool_output"]
    assert '"nodes"' in results["call_b"]["tool_output"]
    said = "".join(e["content"] for e in events if e["type"] == "content")
    assert said == "Both are done."
