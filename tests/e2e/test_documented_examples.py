"""The examples of docs/api.md, run as they stand."""

import re
import shutil
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.stack import PASSWORDS, Stack

pytestmark = pytest.mark.needs("valkey", "celery")

ROOT = Path(__file__).resolve().parents[2]
CAMPUS = ROOT / "chat/demo/campus/documents"
TEXT = (ROOT / "docs/api.md").read_text()
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
# An answer of 400 or more ends the script; `-f` alone would hide what it said.
CURL = (
    'curl() { command curl --fail-with-body --max-time 90 "$@"; }\nset -euo pipefail\n'
)


@pytest.fixture(scope="module")
def variables(stack: Stack) -> dict[str, str]:
    login = {"username": "demo", "password": PASSWORDS["demo"]}
    url = f"{stack.url}/v3/access/users/authenticate"
    tokens = httpx.post(url, json=login, timeout=30).raise_for_status().json()
    body = {"message": "Show the routes of R1", "stream": False}
    asked = stack.call("POST", "/stream", json=body).raise_for_status().json()
    grounded = httpx.post(
        f"{stack.url}/api/chat",
        json={"message": "Which courses are there?"},
        headers={"Authorization": f"Bearer {tokens['access_token']}"},
        timeout=60,
    ).raise_for_status()
    notes = httpx.post(
        f"{stack.url}/v3/knowledge/collections",
        json={"name": "Notes of the examples"},
        headers={"Authorization": f"Bearer {tokens['access_token']}"},
        timeout=30,
    ).raise_for_status()
    return {
        "COPILOT": stack.url,
        "PASSWORD": PASSWORDS["demo"],
        "TOKEN": tokens["access_token"],
        "REFRESH_TOKEN": tokens["refresh_token"],
        "PROJECT_ID": stack.project_id,
        "SESSION_ID": asked["session_id"],
        "CONVERSATION_ID": grounded.headers["X-Conversation-Id"],
        "COLLECTION_ID": notes.json()["id"],
        "MESSAGE_ID": asked["messages"][-1]["id"],
    }


def test_there_are_examples() -> None:
    assert len(BLOCKS) >= 10


@pytest.mark.parametrize(
    "block", BLOCKS[1:], ids=lambda block: block.split("\n")[0][:60]
)
def test_an_example_works(
    block: str, variables: dict[str, str], tmp_path: Path, stack: Stack
) -> None:
    # Each example would wait for what has ended until its own time is over.
    assert stack.is_healthy()
    shutil.copy(CAMPUS / "Campus-guide.pdf", tmp_path / "plan.pdf")
    settings = "\n".join(
        line for line in BLOCKS[0].splitlines() if not line.startswith("COPILOT=")
    )
    given = "".join(f"{name}='{value}'\n" for name, value in variables.items())

    done = subprocess.run(
        ["bash", "-c", f"{given}{settings}\n{CURL}{block}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert done.stdout
