"""Keys and passwords of known text: after all that can go wrong they are nowhere."""

import asyncio
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import psutil
import pytest

from tests.fakes.provider import ScriptedProvider, calls, fails, raw, says
from tests.stack import PASSWORDS, Stack, eventually
from tests.stack_client import ask, follow, socket, words

pytestmark = [pytest.mark.faults, pytest.mark.needs("valkey", "celery")]

LLM_KEY = "sk-canary-model-key-4711-abcdefgh"
LAB_PASSWORD = "canary-lab-password-4712"
CANARIES = (LLM_KEY, LAB_PASSWORD)
# Made for holding secrets, readable by their owner alone.
KEEPERS = {"demolab_credentials", "credentials", "encryption_key", "secret_key"}


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def stack(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    kind = request.param
    with ScriptedProvider() as provider:
        stack = Stack(
            tmp_path_factory.mktemp(f"canary-{kind}"),
            database=kind,
            env={
                "LLM_BASE_URL": provider.url,
                "LLM_MODEL": "scripted",
                "LLM_API_KEY": LLM_KEY,
                "DEMOLAB_PASSWORD": LAB_PASSWORD,
                "LOG_LEVEL": "DEBUG",
            },
        )
        with stack:
            stack.provider = provider  # type: ignore[attr-defined]
            yield stack


async def test_no_secret_is_anywhere_after_all_that_can_go_wrong(stack: Stack) -> None:
    seen = [text async for text in live_through_everything(stack)]

    places: dict[str, str] = {
        "events": json.dumps(seen),
        "database": database_text(stack),
        "responses": responses(stack),
        "admin": admin_pages(stack),
        "command lines": command_lines(stack),
        **redis_text(stack),
        **{f"log {p.name}": p.read_text("utf-8", "replace") for p in logs(stack)},
        **{f"file {p.name}": text for p, text in files(stack)},
    }

    found = [
        f"{canary} in {place}: …{text[max(0, at - 80) : at + 80]}…"
        for place, text in places.items()
        for canary in CANARIES
        if (at := text.find(canary)) >= 0
    ]
    assert found == []
    # The looking itself works: what is no secret is found.
    assert "xylophone" in places["database"]
    assert "xylophone" in places["responses"]
    assert "session" in places["admin"]
    # And the key was really used.
    (used,) = {r.headers["Authorization"] for r in provider(stack).requests}
    assert used == f"Bearer {LLM_KEY}"


def provider(stack: Stack) -> ScriptedProvider:
    found = stack.provider  # type: ignore[attr-defined]
    assert isinstance(found, ScriptedProvider)
    return found


async def live_through_everything(stack: Stack):  # type: ignore[no-untyped-def]
    model = provider(stack)
    echo = {"error": {"message": f"bad key {LLM_KEY}", "code": "invalid_api_key"}}
    headers = {"X-Request-Key": LLM_KEY}
    read = calls(("read_topology", {}), ("list_templates", {}))
    model.script(read, says("A xylophone, it seems."))
    events = await ask(stack, "What lab is it, xylophone?")
    session = events[0]["session_id"]
    yield events
    for status in (401, 400, 429, 500):
        model.script(fails(status, echo, headers))
        yield await ask(stack, "Fail.", session_id=session)
    model.script(raw([b"data: {not json " + LLM_KEY.encode() + b"}\n\n"]))
    yield await ask(stack, "Break.", session_id=session)
    # A tool that the model makes fail, and a title that fails.
    model.title = fails(401, echo, headers)
    model.script(calls(("run_commands", '{"devices": 7}')), says("No."))
    yield await ask(stack, "Fail in a tool.")
    # The lab refuses its password from now on: its errors may quote it.
    stack.rows("UPDATE projects_server SET url = url || '/wrong'")
    model.script(read, says("The lab does not answer."))
    yield await ask(stack, "And now?", session_id=session)
    stack.rows("UPDATE projects_server SET url = replace(url, '/wrong', '')")
    yield await die_in_mid_answer(stack, session)
    yield await break_a_table(stack)
    wrong = {"username": "demo", "password": LAB_PASSWORD}
    async with httpx.AsyncClient(base_url=stack.url) as client:
        yield (await client.post("/v3/access/users/authenticate", json=wrong)).text


async def die_in_mid_answer(stack: Stack, session: str) -> list[dict[str, object]]:
    from tests.faults.saying import counts_to

    model = provider(stack)
    model.script(counts_to(60))
    stack.post("Count.", session_id=session)
    await follow(stack, session, until=words(10), transport=socket)
    stack.kill("worker")
    stack.start_again("worker")
    events = await follow(stack, session)
    assert events[-1]["status"] == "succeeded"
    return events


async def break_a_table(stack: Stack) -> list[str]:
    """A bug in the middle of a run and of a request, with the key in the stack."""
    stack.rows("ALTER TABLE chat_toolcall RENAME TO chat_toolcall_gone")
    try:
        provider(stack).script(calls(("read_topology", {})), says("Never."))
        started = stack.post("Crash.")
        answer = stack.call("GET", f"/sessions/{started['session_id']}/history")
        assert answer.status_code == 500
        await asyncio.to_thread(
            eventually,
            lambda: "Traceback" in stack.logs("worker"),
            "the worker's log has a traceback",
        )
    finally:
        stack.rows("ALTER TABLE chat_toolcall_gone RENAME TO chat_toolcall")
    await asyncio.to_thread(
        eventually,
        lambda: stack.run(started["run_id"])["status"] in ("failed", "succeeded"),
        "the run has ended, by a later attempt",
        seconds=60,
    )
    return [answer.text]


def database_text(stack: Stack) -> str:
    """All tables and columns; binary ones as they are stored."""
    if stack.database == "postgres":
        names = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    else:
        names = "SELECT name FROM sqlite_master WHERE type = 'table'"
    return "\n".join(
        str(row)
        for (name,) in stack.rows(names)
        for row in stack.rows(f'SELECT * FROM "{name}"')
    )


def redis_text(stack: Stack) -> dict[str, str]:
    """Every key of every database, and the append-only file."""
    found = {}
    for database in range(3):
        client = stack.redis(database)
        for key in client.scan_iter("*"):
            found[f"redis {database} {key!r}"] = dump(client, key)
    for path in stack.valkey_dir.rglob("*"):
        if path.is_file():
            found[f"valkey {path.name}"] = path.read_bytes().decode("latin1")
    assert any(name.startswith("redis 0") for name in found)
    assert any("aof" in name for name in found)
    return found


def dump(client, key: bytes) -> str:  # type: ignore[no-untyped-def]
    match client.type(key):
        case b"stream":
            return str(client.xrange(key))
        case b"list":
            return str(client.lrange(key, 0, -1))
        case b"hash":
            return str(client.hgetall(key))
        case b"zset":
            return str(client.zrange(key, 0, -1))
        case b"set":
            return str(client.smembers(key))
        case _:
            return str(client.get(key))


def responses(stack: Stack) -> str:
    paths = [
        "/v3/me",
        "/v3/version",
        "/v3/projects",
        f"/v3/projects/{stack.project_id}",
        f"/v3/projects/{stack.project_id}/topology",
        f"/v3/projects/{stack.project_id}/topology.svg",
        "/healthz",
        "/sessions",
    ]
    for session in stack.call("GET", "/sessions").json():
        own = f"/sessions/{session['thread_id']}"
        paths += [own, f"{own}/history", f"{own}/runs", f"{own}/approvals"]
        paths += [f"{own}/events"]
        paths += [
            f"/runs/{run['id']}" for run in stack.call("GET", f"{own}/runs").json()
        ]
    return "\n".join(
        stack.call("GET", path, user=user).text
        for path in paths
        for user in ("demo", "admin")
    )


def admin_pages(stack: Stack) -> str:
    """Every list, every form, of every model."""
    with httpx.Client(base_url=stack.url, follow_redirects=True, timeout=30) as client:
        login = client.get("/admin/login/")
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', login.text)
        assert token
        form = {
            "csrfmiddlewaretoken": token[1],
            "username": "admin",
            "password": PASSWORDS["admin"],
            "next": "/admin/",
        }
        page = client.post("/admin/login/", data=form)
        assert page.status_code == 200
        seen: dict[str, str] = {}
        todo = set(admin_links(page.text))
        while todo and len(seen) < 150:
            path = todo.pop()
            answer = client.get(path)
            assert answer.status_code < 500, path
            seen[path] = answer.text
            if path.count("/") < 6:
                todo |= admin_links(answer.text) - seen.keys()
        assert any("llmconfig" in path and "change" in path for path in seen)
    return "\n".join(seen.values())


def admin_links(text: str) -> set[str]:
    found = re.findall(r'href="(/admin/[\w/-]+/)"', text)
    return {path for path in found if "logout" not in path and "delete" not in path}


def command_lines(stack: Stack) -> str:
    """Also of processes that a child has started."""
    mine = psutil.Process().children(recursive=True)
    lines = [" ".join(process.cmdline()) for process in mine if process.is_running()]
    assert any("daphne" in line for line in lines)
    return "\n".join(lines)


def logs(stack: Stack) -> list[Path]:
    found = sorted(stack.log_dir.iterdir())
    assert any(path.stat().st_size for path in found)
    return found


def files(stack: Stack) -> Iterator[tuple[Path, str]]:
    """Everything in DATA_DIR; a database's free pages too."""
    for path in stack.data_dir.rglob("*"):
        if path.is_file() and path.name not in KEEPERS:
            yield path, path.read_bytes().decode("latin1")
    if stack.database == "sqlite":
        path = stack.data_dir / "copilot.sqlite3"
        with closing(sqlite3.connect(path)) as database:
            assert database.execute("SELECT count(*) FROM chat_run").fetchone()[0] > 5
