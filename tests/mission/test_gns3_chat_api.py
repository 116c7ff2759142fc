"""What the chat API's specification asks for and no other test shows."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from chat.models import ChatSession, Run
from chat.models.run import Status
from llmconfig.models import LLMConfig
from projects.models import Project
from tests.chat.support import make_session
from tests.conftest import LAB_ID, Valkey

CHAT = f"/v3/projects/{LAB_ID}/chat"
FIELDS = {
    *("id", "thread_id", "user_id", "project_id", "title", "message_count"),
    *("llm_calls_count", "input_tokens", "output_tokens", "total_tokens"),
    *("last_message_at", "created_at", "updated_at", "metadata", "stats", "pinned"),
}


@pytest.fixture
def client(lab: Project, alice: User) -> Client:
    client = Client()
    client.force_login(alice)
    return client


@pytest.fixture
def model(transactional_db: None) -> LLMConfig:
    """Never asked: no worker runs here."""
    return LLMConfig.objects.create(name="M", base_url="http://127.0.0.1:9", model="m")


def ask(client: Client, **body: Any) -> Any:
    return client.post(
        f"{CHAT}/stream",
        {"message": "Why?", **body},
        content_type="application/json",
        headers={"Prefer": "respond-async"},
    )


def test_metadata_and_stats_come_back_unchanged(
    client: Client, alice: User, lab: Project
) -> None:
    metadata = {"mode": "text", "tags": ["ü", 1, None, {"deep": [True]}]}
    session = make_session(alice, lab, metadata=metadata, stats={"tool_calls": 3})

    shown = client.get(f"{CHAT}/sessions/{session.thread_id}").json()

    assert (shown["metadata"], shown["stats"]) == (metadata, {"tool_calls": 3})
    assert shown["pinned"] is False
    assert shown["created_at"] == session.created_at.isoformat().replace("+00:00", "Z")


def test_every_answer_with_a_session_has_all_its_fields(
    client: Client, lab: Project
) -> None:
    made = client.post(f"{CHAT}/sessions", {}, content_type="application/json").json()
    path = f"{CHAT}/sessions/{made['thread_id']}"
    body = {"title": "New"}
    answers = [
        made,
        client.get(path).json(),
        client.get(f"{CHAT}/sessions").json()[0],
        client.patch(path, body, content_type="application/json").json(),
        client.put(f"{path}/pin").json(),
        client.delete(f"{path}/pin").json(),
    ]

    for answer in answers:
        assert set(answer) >= FIELDS
        assert isinstance(answer["id"], int)
        assert isinstance(answer["user_id"], str)
        assert answer["project_id"] == LAB_ID


@pytest.mark.needs("valkey")
def test_asking_makes_a_session_and_goes_on_in_it(
    valkey: Valkey, client: Client, model: LLMConfig
) -> None:
    first = ask(client)
    assert first.status_code == 202, first.content
    session_id = first.json()["session_id"]
    Run.objects.update(status=Status.SUCCEEDED)

    second = ask(client, session_id=session_id)

    assert second.json()["session_id"] == session_id
    assert (first.json()["round"], second.json()["round"]) == (1, 2)
    assert ChatSession.objects.count() == 1
    assert second["Location"] == f"{CHAT}/sessions/{session_id}/events"


@pytest.mark.needs("valkey")
def test_overrides_are_checked_and_recorded(
    valkey: Valkey, client: Client, model: LLMConfig
) -> None:
    wrong = [("temperature", -0.01), ("temperature", 2.01), ("temperature", "warm")]
    wrong += [("max_tokens", 0), ("max_tokens", 1.5), ("max_tokens", "many")]
    for name, value in wrong:
        response = ask(client, **{name: value})
        assert response.status_code == 422, (name, value)
        assert response.json()["errors"][0]["field"] == name
    assert not Run.objects.exists()

    for temperature, max_tokens in ((0, 1), (2.0, 4096), (None, None)):
        assert (
            ask(client, temperature=temperature, max_tokens=max_tokens).status_code
            == 202
        )
        run = Run.objects.latest("created_at")
        assert (run.temperature, run.max_tokens) == (temperature, max_tokens)


def test_sqlite_runs_in_wal_mode(transactional_db: None) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("of SQLite only")

    with connection.cursor() as cursor:
        cursor.execute("PRAGMA journal_mode")
        assert cursor.fetchone() == ("wal",)


def test_the_graph_knows_no_database() -> None:
    """No model and no database comes with it: what it reports, others store."""
    code = (
        "import sys; import chat.agent.graph, chat.agent.nodes, chat.agent.tools;"
        "parts = ('django.db', 'chat.models');"
        "print([name for name in sys.modules if name.startswith(parts)])"
    )

    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("package", "least"),
    [
        ("langgraph", (0, 2)),
        ("langchain-core", (0, 3)),
        ("langgraph-checkpoint-sqlite", (3, 0, 1)),
        ("aiosqlite", (0, 19)),
    ],
)
def test_the_named_packages_are_pinned_and_new_enough(
    package: str, least: tuple[int, ...]
) -> None:
    text = (Path(__file__).resolve().parents[2] / "requirements.txt").read_text()
    pinned = re.search(rf"^{package}==([\d.]+)", text, re.MULTILINE)

    assert pinned is not None
    assert tuple(map(int, pinned[1].split("."))) >= least
