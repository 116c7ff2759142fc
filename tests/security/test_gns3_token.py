"""A GNS3 user's own token does a run's work, and stands nowhere but in its header."""

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.conftest import LAB_ID
from tests.fakes.gns3 import FakeGns3
from tests.fakes.provider import ScriptedProvider, calls, says
from tests.security.test_canary import command_lines, database_text, redis_text
from tests.stack import Stack
from tests.stack_client import ask, follow, is_type, socket

pytestmark = [pytest.mark.faults, pytest.mark.needs("valkey", "celery")]


@dataclass
class Forgetful(FakeGns3):
    """Ends a login in the middle of a run when told to."""

    has_ended: bool = False

    def answer(self, method: str, path: str, token: str, body: Any) -> Any:
        if self.has_ended and path.endswith("/nodes"):
            return 401, {"message": f"Token {token} has expired"}
        return super().answer(method, path, token, body)


@pytest.fixture(scope="module")
def gns3() -> Iterator[Forgetful]:
    with Forgetful() as fake:
        fake.add_user("carol")
        fake.add_project(LAB_ID)
        fake.share(LAB_ID, "carol")
        yield fake


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def token(gns3: Forgetful) -> str:
    return gns3.token("carol", exp=int(time.time()) + 3600)


@pytest.fixture(scope="module")
def stack(
    gns3: Forgetful,
    model: ScriptedProvider,
    token: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stack]:
    env = {
        "GNS3_URL": gns3.url,
        "LLM_BASE_URL": model.url,
        "LLM_MODEL": "scripted",
        "LOG_LEVEL": "DEBUG",
    }
    folder = tmp_path_factory.mktemp("gns3-token")
    with Stack(folder, env=env, has_lab=False) as stack:
        stack.rows("UPDATE projects_server SET access = 'per_user'")
        # All clients of this stack are carol, with her GNS3 token.
        stack._tokens["demo"], stack._project_id = token, LAB_ID
        yield stack


async def test_her_token_does_the_work_and_is_nowhere(
    stack: Stack, gns3: Forgetful, model: ScriptedProvider, token: str
) -> None:
    model.script(calls(("read_topology", {})), says("A xylophone."))
    first = await ask(stack, "What lab is it, xylophone?")
    session_id = first[0]["session_id"]
    again = await follow(stack, session_id, transport=socket, until=is_type("done"))
    gns3.has_ended = True
    model.script(calls(("read_topology", {})), says("Your login has ended."))
    second = await ask(stack, "And now?", session_id=session_id)

    tools = [
        [event for event in events if event["type"] == "tool_end"]
        for events in (first, second)
    ]
    assert json.loads(tools[0][0]["tool_output"])["project"]["name"] == "Campus"
    assert (tools[0][0]["status"], tools[1][0]["status"]) == ("ok", "error")
    assert "Log in to GNS3 again" in tools[1][0]["tool_output"]
    assert [events[-1]["status"] for events in (first, second)] == ["succeeded"] * 2
    assert again[-1]["type"] == "done"
    assert gns3.asked(f"/v3/projects/{LAB_ID}/nodes") >= 1

    places = await asyncio.to_thread(everywhere, stack)
    places["events"] = json.dumps([first, again, second])
    signature = token.rpartition(".")[2]
    assert [name for name, text in places.items() if signature in text] == []
    assert "xylophone" in places["database"]
    assert "gns3:" in places["database"]


def everywhere(stack: Stack) -> dict[str, str]:
    return {
        "database": database_text(stack),
        "command lines": command_lines(stack),
        **redis_text(stack),
        **{
            f"file {path.name}": path.read_bytes().decode("latin1")
            for folder in (stack.data_dir, stack.log_dir)
            for path in folder.rglob("*")
            if path.is_file()
        },
    }
