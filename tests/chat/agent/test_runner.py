import asyncio
import json
import uuid
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.backends.utils import CursorWrapper
from langchain_core.runnables.config import var_child_runnable_config

from chat.agent import runner
from chat.agent.checkpoints import Checkpoints
from chat.agent.runner import Execution
from chat.agent.state import current_kit, current_model
from chat.agent.tools.base import Effect, Tool, ToolArguments
from chat.agent.tools.kit import Kit
from chat.events.address import RunAddress
from chat.events.reader import Batch, follow
from chat.models import ChatSession, LLMCall, Message, Run, ToolCall, Worker
from chat.models.run import Status
from llmconfig.models import LLMConfig
from projects.gns3.client import Gns3Client
from projects.gns3.types import Gns3Project, Gns3Topology
from projects.models import Project
from tests.chat.agent.conftest import Execute
from tests.chat.conftest import API_KEY
from tests.chat.support import (
    claimed,
    db,
    events_of,
    kinds,
    loaded,
    make_run,
    make_session,
    make_worker,
    text_of,
    until,
    use_tools,
)
from tests.conftest import Valkey
from tests.fakes.provider import (
    TITLE,
    ScriptedProvider,
    calls,
    cuts,
    fails,
    says,
    stalls,
)

pytestmark = [pytest.mark.needs("valkey"), pytest.mark.database]


class Wanted(ToolArguments):
    x: int = 0


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[int]:
    """The graph has the tools `look` (a read) and `change`; what they were run with."""
    # About the order and the recording of calls; asking has tests of its own.
    settings.APPROVAL_POLICY = "trust"
    numbers: list[int] = []

    async def run(arguments: Wanted, kit: Kit) -> dict[str, int]:
        numbers.append(arguments.x)
        return {"got": arguments.x}

    def tool(name: str, effect: Effect) -> Tool[Wanted]:
        return Tool(name, f"{name}.", Wanted, run, lambda arguments: effect)

    tools = {
        "look": tool("look", Effect.READ),
        "change": tool("change", Effect.CHANGE),
    }
    use_tools(monkeypatch, tools)
    return numbers


async def log_of(run: Run) -> list[dict[str, Any]]:
    return await events_of(RunAddress.of(run))


async def until_said(run: Run, text: str) -> None:
    async with asyncio.timeout(20):
        async for item in follow(RunAddress.of(run)):
            if isinstance(item, Batch) and text in text_of(await log_of(run)):
                return


def turns(run: Run) -> list[tuple[str, str]]:
    return list(
        run.messages.order_by("round", "sequence").values_list("role", "content")
    )


async def test_a_plain_answer(
    started: Run, execute: Execute, provider: ScriptedProvider
) -> None:
    provider.script(says("PC1 has no gateway.", usage=(100, 20)))

    run = await execute(started)

    assert run.status == Status.SUCCEEDED
    assert (await db(turns)(run))[1] == ("assistant", "PC1 has no gateway.")
    events = await log_of(run)
    assert text_of(events) == "PC1 has no gateway."
    assert kinds(events)[0] == "attempt"
    assert events[-1]["type"] == "done"
    assert events[-1]["status"] == "succeeded"
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert run.saved_seq == len(events)


async def test_tokens_and_cost_are_on_the_ledger_and_in_the_totals(
    started: Run, execute: Execute, provider: ScriptedProvider, ran: list[int]
) -> None:
    provider.script(calls(("look", {}), usage=(100, 10)), says("ok", usage=(200, 30)))

    run = await execute(started)
    await until(
        lambda: run.llm_calls.filter(operation="title", status="succeeded").exists(),
        "the title's call",
    )

    def ledger() -> list[LLMCall]:
        return list(run.llm_calls.filter(operation="chat").order_by("started_at"))

    first, second = await db(ledger)()
    assert [first.input_tokens, second.output_tokens] == [100, 30]
    assert first.cost == Decimal("0.00028")
    assert first.first_token_at is None or first.first_token_at >= first.started_at
    assert second.username == "alice"
    session = await ChatSession.objects.aget(pk=run.session_id)
    title = 5
    assert session.llm_calls_count == 3
    assert session.total_tokens == 340 + title
    usages = [event for event in await log_of(run) if event["type"] == "usage"]
    assert [event["total_tokens"] for event in usages] == [110, 230]


async def test_the_title_is_made_from_the_first_message_beside_the_answer(
    started: Run, execute: Execute, provider: ScriptedProvider
) -> None:
    run = await execute(started)

    await until(lambda: loaded(run).session.title == TITLE, "the title")
    (request,) = provider.title_requests
    assert "Why can't PC1 reach PC2?" in request.text
    assert await Message.objects.filter(run=run).acount() == 2


async def test_a_persons_title_wins_over_the_models(
    started: Run, execute: Execute, provider: ScriptedProvider
) -> None:
    await db(started.session.rename)("Mine")
    started.session.title = ""

    run = await execute(started)
    await until(lambda: len(provider.title_requests) == 1, "the title's request")
    await asyncio.gather(*runner._background)

    assert (await db(loaded)(run)).session.title == "Mine"
    assert "title" not in kinds(await log_of(run))


async def test_two_parallel_calls_are_shown_and_stored_by_id(
    started: Run, execute: Execute, provider: ScriptedProvider, ran: list[int]
) -> None:
    provider.script(
        calls(("look", {"x": 1}), ("look", {"x": 2}), ids=["a", "b"], text="Checking."),
        says("Both fine."),
    )

    run = await execute(started)

    assert sorted(ran) == [1, 2]
    events = await log_of(run)
    ends = {e["tool_call_id"]: e for e in events if e["type"] == "tool_end"}
    assert json.loads(ends["a"]["tool_output"]) == {"got": 1}
    assert json.loads(ends["b"]["tool_output"]) == {"got": 2}
    written = [e["tool_call"] for e in events if e["type"] == "tool_call"]
    for call_id, arguments in [("a", {"x": 1}), ("b", {"x": 2})]:
        mine = [c["function"] for c in written if c["id"] == call_id]
        assert mine[0]["arguments"] == ""
        assert json.loads(mine[-1]["arguments"]) == arguments
        assert [c.get("complete", False) for c in mine].count(True) == 1
    order = kinds(events)
    assert (
        order.index("tool_call") < order.index("tool_start") < order.index("tool_end")
    )
    roles = [role for role, _ in await db(turns)(run)]
    assert roles == ["user", "assistant", "tool", "tool", "assistant"]
    sent = [m["role"] for m in provider.requests[1].messages]
    assert sent == ["system", "user", "assistant", "tool", "tool"]
    results = provider.requests[1].messages[3:]
    assert [m["tool_call_id"] for m in results] == ["a", "b"]


async def test_history_without_arguments_is_sent_again_as_an_object(
    started: Run, execute: Execute, provider: ScriptedProvider, ran: list[int]
) -> None:
    # PROV-08
    provider.script(calls(("look", "")), says("ok"))

    await execute(started)

    (call,) = provider.requests[1].messages[2]["tool_calls"]
    assert call["function"]["arguments"] == "{}"


async def test_a_cut_answer_fails_and_keeps_what_came(
    started: Run, execute: Execute, provider: ScriptedProvider
) -> None:
    provider.script(cuts(after=["PC1 has ", "no "]))

    run = await execute(started)

    assert (run.status, run.error_code) == (Status.FAILED, "model_stream_cut")
    said = await Message.objects.filter(run=run, role="assistant").afirst()
    assert said is not None
    assert said.content == "PC1 has no "
    events = await log_of(run)
    assert text_of(events) == "PC1 has no "
    assert kinds(events)[-2:] == ["error", "done"]


async def test_no_tool_of_a_cut_answer_runs(
    started: Run, execute: Execute, provider: ScriptedProvider, ran: list[int]
) -> None:
    provider.script(
        cuts(
            after=[
                b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,'
                b'"id":"a","function":{"name":"look","arguments":"{}"}}]}}]}\n\n'
            ]
        )
    )

    run = await execute(started)

    assert run.status == Status.FAILED
    assert ran == []
    assert not await ToolCall.objects.filter(run=run, status="running").aexists()


async def test_a_refused_key_that_is_echoed_is_nowhere(
    started: Run,
    execute: Execute,
    provider: ScriptedProvider,
    caplog: pytest.LogCaptureFixture,
) -> None:
    text = f"Incorrect API key provided: {API_KEY}."
    provider.script(fails(401, {"error": {"message": text, "code": "invalid_api_key"}}))
    provider.title = fails(401, {"error": {"message": text}})

    run = await execute(started)
    await asyncio.gather(*runner._background)

    assert (run.status, run.error_code) == (Status.FAILED, "model_key_refused")
    assert provider.requests[0].headers["Authorization"] == f"Bearer {API_KEY}"

    def everything() -> str:
        rows = [
            list(model.objects.values())
            for model in (Run, Message, LLMCall, ToolCall, ChatSession)
        ]
        return repr(rows)

    assert API_KEY not in await db(everything)()
    assert API_KEY not in repr(await log_of(run))
    assert API_KEY not in caplog.text


async def test_a_quota_that_is_used_up_says_so(
    started: Run, execute: Execute, provider: ScriptedProvider
) -> None:
    provider.script(
        fails(429, {"error": {"message": "no", "code": "insufficient_quota"}})
    )

    run = await execute(started)

    assert (run.status, run.error_code) == (Status.FAILED, "model_quota")


async def test_a_web_page_in_place_of_an_answer_is_named(
    started: Run, execute: Execute, provider: ScriptedProvider
) -> None:
    page = b"<html><title>Log in to the proxy</title></html>"
    provider.script(fails(200, page.decode(), {"Content-Type": "text/html"}))

    run = await execute(started)

    assert (run.status, run.error_code) == (Status.FAILED, "model_bad_answer")
    assert "proxy" not in run.error


async def test_a_stop_in_mid_answer_keeps_the_text_and_leaves_the_provider(
    started: Run, checkpoints: Checkpoints, provider: ScriptedProvider
) -> None:
    provider.script(stalls(after=["PC1 has ", "no "]))
    execution = Execution(started, checkpoints)
    running = asyncio.create_task(execution.execute())
    await until_said(started, "no ")

    execution.stop("user")
    await running

    run = await db(loaded)(started)
    assert (run.status, run.reason) == (Status.STOPPED, "user")
    said = await Message.objects.filter(run=run, role="assistant").aget()
    assert said.content == "PC1 has no "
    assert said.metadata["stopped"] is True
    assert kinds(await log_of(run))[-2:] == ["stopped", "done"]
    call = await LLMCall.objects.filter(run=run, operation="chat").aget()
    assert call.status == LLMCall.Status.STOPPED
    await until(lambda: provider.open_count == 0, "the provider's connection closed")


async def test_a_stop_in_a_tool_gives_its_call_a_result(
    started: Run,
    checkpoints: Checkpoints,
    provider: ScriptedProvider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def hang(arguments: Wanted, kit: Kit) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    use_tools(monkeypatch, {"look": Tool("look", "", Wanted, hang)})
    provider.script(calls(("look", {}), ids=["a"]))
    execution = Execution(started, checkpoints)
    running = asyncio.create_task(execution.execute())
    async with asyncio.timeout(20):
        await begun.wait()

    execution.stop("user")
    await running

    assert ended.is_set()
    call = await ToolCall.objects.select_related("result").aget(call_id="a")
    assert call.status == ToolCall.Status.CANCELLED
    assert call.result is not None
    assert call.result.role == "tool"


async def test_the_session_goes_on_after_a_stop(
    started: Run,
    checkpoints: Checkpoints,
    execute: Execute,
    provider: ScriptedProvider,
    ran: list[int],
) -> None:
    provider.script(stalls(after=["Half an "]))
    execution = Execution(started, checkpoints)
    running = asyncio.create_task(execution.execute())
    await until_said(started, "an ")
    execution.stop("user")
    await running
    provider.script(says("Whole."))

    next_run = await db(
        lambda: claimed(make_run(started.session, text="Go on"), make_worker("b"))
    )()
    run = await execute(next_run)

    assert run.status == Status.SUCCEEDED
    sent = [(m["role"], m["content"]) for m in provider.requests[-1].messages[1:]]
    assert sent == [
        ("user", "Why can't PC1 reach PC2?"),
        ("assistant", "Half an "),
        ("user", "Go on"),
    ]


async def test_a_run_has_a_time_limit(
    started: Run, execute: Execute, provider: ScriptedProvider, settings: Any
) -> None:
    settings.RUN_TIME_LIMIT = 2.0
    provider.script(stalls(after=["So far "]))

    run = await execute(started)

    assert (run.status, run.error_code) == (Status.FAILED, "time_limit")
    said = await Message.objects.filter(run=run, role="assistant").afirst()
    assert said is not None
    assert said.content == "So far "


async def test_a_bug_ends_the_run_with_a_safe_message(
    started: Run,
    execute: Execute,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("internal detail")

    monkeypatch.setattr(runner, "build_graph", broken)

    run = await execute(started)

    assert (run.status, run.error_code) == (Status.FAILED, "internal_error")
    assert "internal detail" not in run.error
    assert "internal detail" in caplog.text


async def test_an_abandoned_attempt_writes_nothing_more(
    started: Run, checkpoints: Checkpoints, provider: ScriptedProvider
) -> None:
    provider.script(stalls(after=["Undead "]))
    execution = Execution(started, checkpoints)
    running = asyncio.create_task(execution.execute())
    await until_said(started, "Undead")
    await db(Run.objects.filter(pk=started.pk).update)(attempt=2)

    execution.abandon()
    await running

    run = await db(loaded)(started)
    assert (run.status, run.attempt) == (Status.RUNNING, 2)
    assert "done" not in kinds(await log_of(run))


# --- Taking over ----------------------------------------------------------------


def leave_behind(run: Run, status: str, name: str) -> ToolCall:
    """What a worker that died in a tool's call leaves in the rows."""
    said = Message.objects.create(
        session=run.session, run=run, round=1, sequence=2, role="assistant"
    )
    call = ToolCall.objects.create(
        run=run, message=said, call_id="a", name=name, arguments='{"x":7}'
    )
    ToolCall.objects.filter(pk=call.pk).update(status=status)
    return call


def taken_over(run: Run) -> Run:
    Worker.objects.all().delete()
    orphan = Run.objects.get(pk=run.pk)
    assert orphan.take_over(make_worker("heir"), 4.0)
    return loaded(orphan)


async def test_a_change_that_was_begun_is_not_repeated(
    started: Run, execute: Execute, provider: ScriptedProvider, ran: list[int]
) -> None:
    await db(leave_behind)(started, "running", "change")
    provider.script(says("Look first."))

    run = await execute(await db(taken_over)(started))

    assert run.status == Status.SUCCEEDED
    assert ran == []
    call = await ToolCall.objects.select_related("result").aget(call_id="a")
    assert call.status == ToolCall.Status.UNKNOWN
    assert call.result is not None
    assert "unknown" in call.result.content
    assert "unknown" in provider.requests[0].messages[-1]["content"]


@pytest.mark.parametrize(
    ("status", "name"),
    [("pending", "change"), ("pending", "look"), ("running", "look")],
)
async def test_what_may_be_run_again_is(
    started: Run,
    execute: Execute,
    provider: ScriptedProvider,
    ran: list[int],
    status: str,
    name: str,
) -> None:
    await db(leave_behind)(started, status, name)

    run = await execute(await db(taken_over)(started))

    assert run.status == Status.SUCCEEDED
    assert ran == [7]
    assert provider.requests[0].messages[-1]["role"] == "tool"


async def test_a_finished_call_is_not_run_again(
    started: Run, execute: Execute, provider: ScriptedProvider, ran: list[int]
) -> None:
    def finished() -> None:
        call = leave_behind(started, "succeeded", "change")
        call.result = Message.objects.create(
            session=started.session,
            run=started,
            round=1,
            sequence=3,
            role="tool",
            tool_call_id="a",
            name="change",
            content='{"got": "before"}',
        )
        call.status = "succeeded"
        call.save()

    await db(finished)()

    run = await execute(await db(taken_over)(started))

    assert run.status == Status.SUCCEEDED
    assert ran == []
    assert provider.requests[0].messages[-1]["content"] == '{"got": "before"}'


async def test_a_dead_attempts_draft_is_discarded_and_said_so(
    started: Run, execute: Execute, provider: ScriptedProvider
) -> None:
    def draft() -> str:
        message = Message.objects.create(
            session=started.session,
            run=started,
            round=1,
            sequence=2,
            role="assistant",
            content="Half a sent",
            is_partial=True,
        )
        return str(message.pk)

    draft_id = await db(draft)()
    provider.script(says("A whole sentence."))

    run = await execute(await db(taken_over)(started))

    events = await log_of(run)
    assert events[0]["type"] == "attempt"
    assert events[0]["attempt"] == 2
    assert events[0]["discarded"] == [draft_id]
    assert (await db(turns)(run))[1:] == [("assistant", "A whole sentence.")]


async def test_counting_asks_the_database_as_often_for_a_long_answer(
    session: ChatSession,
    llm: LLMConfig,
    execute: Execute,
    provider: ScriptedProvider,
    valkey: Valkey,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    execute_sql = CursorWrapper.execute

    def watched(cursor: CursorWrapper, sql: str, params: Any = None) -> Any:
        asked.append(sql)
        return execute_sql(cursor, sql, params)

    def begin() -> Run:
        session.rename("Named by a person")
        return claimed(make_run(session))

    async def updates_of_counters(pieces: int) -> tuple[int, int]:
        provider.script(says("word " * pieces))
        run = await db(begin)()
        asked.clear()
        await execute(run)
        ledger = [sql for sql in asked if 'UPDATE "chat_llmcall"' in sql]
        totals = [sql for sql in asked if '"total_tokens" = (' in sql]
        return len(ledger), len(totals)

    monkeypatch.setattr(CursorWrapper, "execute", watched)
    short = await updates_of_counters(1)

    assert await updates_of_counters(300) == short
    assert short[1] == 1


async def test_tools_act_on_the_sessions_own_project(
    lab: Project,
    alice: User,
    llm: LLMConfig,
    execute: Execute,
    provider: ScriptedProvider,
    valkey: Valkey,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []

    async def topology(client: Gns3Client, project_id: str) -> Gns3Topology:
        read.append(project_id)
        return Gns3Topology(Gns3Project(project_id, "Lab", "opened"), [], [])

    def begin() -> list[Run]:
        other = Project.objects.create(
            server=lab.server, project_id=str(uuid.uuid4()), status="opened"
        )
        sessions = [make_session(alice, project) for project in (lab, other)]
        return [claimed(make_run(session)) for session in sessions]

    monkeypatch.setattr(Gns3Client, "topology", topology)
    provider.script(says("ok"))
    for run in await db(begin)():
        read.clear()
        provider.script(calls(("read_topology", {})), says("ok"))

        await execute(run)

        assert run.session.project is not None
        assert set(read) == {run.session.project.project_id}


# --- Secrets -----------------------------------------------------------------------


async def test_two_runs_at_once_use_each_the_key_of_its_person(
    lab: Project,
    alice: User,
    bob: User,
    execute: Execute,
    provider: ScriptedProvider,
    llm: LLMConfig,
    valkey: Valkey,
) -> None:
    keys = {"alice": "sk-of-alice-0123456789", "bob": "sk-of-bob-0123456789"}

    def begin(user: User) -> Run:
        name = user.get_username()
        LLMConfig.objects.create(
            name=name,
            user=user,
            base_url=provider.url,
            model="scripted-1",
            api_key=keys[name],
            # The provider is of this machine.
            made_by_staff=True,
        )
        session = make_session(user, lab, title="T", is_title_final=True)
        return claimed(make_run(session, text=f"I am {name}"))

    runs = [await db(begin)(user) for user in (alice, bob)]
    provider.script(says("ok", pace=0.02))

    await asyncio.gather(*map(execute, runs))

    used = {
        request.body["messages"][-1]["content"]: request.headers["Authorization"]
        for request in provider.requests
    }
    assert used == {f"I am {name}": f"Bearer {key}" for name, key in keys.items()}


@pytest.mark.parametrize("end", ["success", "error", "stop"])
async def test_nothing_of_a_run_stays_in_the_context(
    started: Run, checkpoints: Checkpoints, provider: ScriptedProvider, end: str
) -> None:
    script = {
        "success": says("ok"),
        "error": fails(401, {"error": {"message": "no"}}),
        "stop": stalls(after=["So "]),
    }
    provider.script(script[end])
    execution = Execution(started, checkpoints)
    seen: list[object] = []
    work = execution._work

    async def watched(*begun: Any) -> None:
        try:
            await work(*begun)
        finally:
            seen.extend([current_model.get(), current_kit.get()])

    execution._work = watched  # type: ignore[method-assign]
    running = asyncio.create_task(execution.execute())
    if end == "stop":
        await until_said(started, "So ")
        execution.stop("user")
    await running

    assert seen == [None, Kit()]
    assert current_model.get() is None
    assert current_kit.get() == Kit()


async def test_the_graphs_config_holds_ids_and_no_secret(
    started: Run,
    execute: Execute,
    llm: LLMConfig,
    provider: ScriptedProvider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    configs: list[Any] = []

    async def spy(arguments: Wanted, kit: Kit) -> str:
        configs.append(var_child_runnable_config.get())
        return "ok"

    use_tools(monkeypatch, {"look": Tool("look", "", Wanted, spy)})
    provider.script(calls(("look", {})), says("ok"))

    run = await execute(started)

    (config,) = configs
    assert config["configurable"]["thread_id"] == run.session.thread_id
    project = run.session.project
    assert project is not None
    assert config["configurable"]["project_id"] == project.project_id
    assert config["metadata"]["user_id"] == str(run.session.user_id)
    plain = {
        key: value
        for key, value in config["configurable"].items()
        if not key.startswith("__")
    }
    assert API_KEY not in repr((plain, config["metadata"]))


async def test_checkpoints_are_gone_after_the_run(
    started: Run, execute: Execute, checkpoints: Checkpoints
) -> None:
    run = await execute(started)

    project = run.session.project
    assert project is not None
    async with checkpoints.of(project.project_id) as saver:
        found = [item async for item in saver.alist(None)]
    mine = run.session.thread_id
    assert not [c for c in found if c.config["configurable"]["thread_id"] == mine]


async def test_a_model_sees_no_key_in_its_prompt(
    started: Run, execute: Execute, provider: ScriptedProvider
) -> None:
    await execute(started)

    assert API_KEY not in provider.requests[0].text
