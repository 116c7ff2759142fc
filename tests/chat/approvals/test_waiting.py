"""From the question to the decision and on, with rows, events and a real graph."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from chat.agent.runner import Execution
from chat.approvals import (
    ApprovalDecided,
    Decision,
    EditRefused,
    decide,
    end_overdue,
    overdue,
)
from chat.deletion import delete_session
from chat.events.address import RunAddress
from chat.events.reader import Batch, follow
from chat.events.redis import redis
from chat.history import newest_messages, openai_message
from chat.models import Approval, ChatSession, Run, ToolCall
from chat.models.run import Status
from chat.runs import start_run, stop_session
from projects.models import Membership, Project, Role
from tests.chat.approvals.conftest import Router, Waiting, status_of
from tests.chat.conftest import InProcessWorker
from tests.chat.support import (
    db,
    events_of,
    followed,
    kinds,
    loaded,
    make_run,
    make_worker,
    until,
)
from tests.fakes.provider import ScriptedProvider, calls, says

pytestmark = [pytest.mark.needs("valkey"), pytest.mark.database]

RENAME = {"lines": ["hostname R2"]}


async def log_of(run: Run) -> list[dict[str, Any]]:
    return await events_of(RunAddress.of(run))


def asked(run: Run, status: str = "waiting") -> list[Approval]:
    rows = run.approvals.filter(status=status).select_related("tool_call", "decided_by")
    return list(rows.order_by("requested_at", "tool_call__position"))


async def approve(run: Run, user: User, **fields: Any) -> list[Approval]:
    rows = await db(asked)(run)
    decisions = [Decision(str(row.pk), is_approved=True, **fields) for row in rows]
    return await db(decide)(run=run, user=user, decisions=decisions)


async def reject(run: Run, user: User, reason: str = "") -> list[Approval]:
    rows = await db(asked)(run)
    decisions = [Decision(str(row.pk), False, reason=reason) for row in rows]
    return await db(decide)(run=run, user=user, decisions=decisions)


async def ended(run: Run, worker: InProcessWorker) -> Run:
    await until(lambda: Run.objects.get(pk=run.pk).is_finished, "it ends")
    await worker.finish()
    return await db(loaded)(run)


def results(run: Run) -> list[str]:
    rows = run.messages.filter(role="tool").order_by("sequence")
    return [row.content for row in rows]


async def test_a_waiting_run_is_held_by_nobody_and_nothing_has_run(
    waiting: Waiting, router: Router
) -> None:
    run = await waiting(("look", {}), ("change", RENAME))

    assert (run.status, run.worker_id, router.ran) == ("waiting_approval", None, [])
    [row] = await db(asked)(run)
    events = await log_of(run)
    assert events[-1]["type"] == "approval_required"
    assert events[-1]["seq"] == run.saved_seq
    [shown] = events[-1]["approvals"]
    assert shown == row.as_json()
    assert (shown["tool_call_id"], shown["tool_name"]) == ("c1", "change")
    assert shown["arguments"] == RENAME
    assert shown["devices"][0]["commands"][0]["command"] == "hostname R2"
    assert shown["question"] == "Rename R1 to R2."
    assert not any(kind.startswith("tool_s") for kind in kinds(events))


async def test_an_approved_call_runs_once_and_the_model_goes_on(
    waiting: Waiting,
    router: Router,
    worker: InProcessWorker,
    alice: User,
    provider: ScriptedProvider,
) -> None:
    run = await waiting(("look", {"lines": ["x"]}), ("change", RENAME))
    follower = asyncio.create_task(followed(RunAddress.of(run)))

    await approve(run, alice)
    run = await ended(run, worker)

    assert run.status == Status.SUCCEEDED
    assert sorted(router.ran) == [["hostname R2"], ["x"]]
    assert len(provider.requests) == 2
    events = await follower
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    order = [k for k in kinds(events) if k.startswith(("appr", "tool_s", "done"))]
    assert order[:2] == ["approval_required", "approval_resolved"]
    assert order[-1] == "done"
    assert kinds(events).count("approval_required") == 1
    resolved = next(e for e in events if e["type"] == "approval_resolved")
    assert resolved["approvals"][0]["decided_by"] == "alice"


async def test_a_rejected_call_does_not_run_and_the_model_is_told_why(
    waiting: Waiting,
    router: Router,
    worker: InProcessWorker,
    alice: User,
    provider: ScriptedProvider,
) -> None:
    run = await waiting()

    await reject(run, alice, "Not on Fridays.")
    run = await ended(run, worker)

    assert (run.status, router.ran) == (Status.SUCCEEDED, [])
    [told] = await db(results)(run)
    assert json.loads(told)["reason"] == "Not on Fridays."
    assert provider.requests[-1].messages[-1]["content"] == told
    call = await db(run.tool_calls.get)()
    assert call.status == ToolCall.Status.REFUSED
    events = await log_of(run)
    [end] = [event for event in events if event["type"] == "tool_end"]
    assert (end["tool_call_id"], end["status"]) == ("c0", "error")


async def test_all_calls_of_a_step_are_decided_before_any_runs(
    waiting: Waiting, router: Router, worker: InProcessWorker, alice: User
) -> None:
    run = await waiting(("change", {"lines": ["a"]}), ("change", {"lines": ["b"]}))
    first, second = await db(asked)(run)

    def one(row: Approval, is_approved: bool) -> None:
        decide(run=run, user=alice, decisions=[Decision(str(row.pk), is_approved)])

    await db(one)(first, True)
    assert (await db(status_of)(run), router.ran) == (Status.WAITING_APPROVAL, [])
    await db(one)(second, False)
    await ended(run, worker)

    assert router.ran == [["a"]]
    assert await db(lambda: [r.status for r in run.approvals.all()])() == [
        "approved",
        "rejected",
    ]


async def test_the_first_decision_wins_and_none_of_a_refused_list_counts(
    waiting: Waiting, router: Router, worker: InProcessWorker, alice: User, carol: User
) -> None:
    run = await waiting(("change", {"lines": ["a"]}), ("change", {"lines": ["b"]}))
    first, second = await db(asked)(run)

    def decide_both(is_approved: bool, user: User, *rows: Approval) -> None:
        decisions = [Decision(str(row.pk), is_approved) for row in rows]
        decide(run=run, user=user, decisions=decisions)

    await db(decide_both)(True, carol, first)
    with pytest.raises(ApprovalDecided, match="approved by carol"):
        await db(decide_both)(False, alice, second, first)
    assert [row.status for row in await db(asked)(run)] == ["waiting"]

    await db(decide_both)(True, alice, second)
    await ended(run, worker)
    with pytest.raises(ApprovalDecided):
        await db(decide_both)(False, alice, second)
    assert router.ran == [["a"], ["b"]]


async def test_edited_lines_are_what_runs_and_what_history_shows(
    waiting: Waiting,
    router: Router,
    worker: InProcessWorker,
    alice: User,
    session: ChatSession,
) -> None:
    run = await waiting()

    await approve(run, alice, arguments={"lines": ["hostname R9"]})
    await ended(run, worker)

    assert router.ran == [["hostname R9"]]
    [row] = await db(asked)(run, "approved")
    assert json.loads(row.asked_arguments) == RENAME
    assert row.as_json()["asked_arguments"] == RENAME
    assert row.proposal["summary"] == "Change R1, edited"

    def shown() -> list[str]:
        turns = [openai_message(m) for m in newest_messages(session, limit=10)]
        calls = [call for turn in turns for call in turn.get("tool_calls", [])]
        return [call["function"]["arguments"] for call in calls]

    assert [json.loads(each) for each in await db(shown)()] == [
        {"lines": ["hostname R9"]}
    ]


async def test_an_edit_passes_the_schema_and_the_policy_or_nothing_is_decided(
    waiting: Waiting, router: Router, alice: User
) -> None:
    run = await waiting()

    for arguments in ({"lines": ["reload"]}, {"lines": "x"}, {"other": 1}):
        with pytest.raises(EditRefused):
            await approve(run, alice, arguments=arguments)

    assert len(await db(asked)(run)) == 1
    assert (await db(status_of)(run), router.ran) == (Status.WAITING_APPROVAL, [])


async def test_what_changed_since_it_was_shown_is_asked_again(
    waiting: Waiting, router: Router, worker: InProcessWorker, alice: User
) -> None:
    run = await waiting()
    [first] = await db(asked)(run)
    router.config = "hostname R1\nip routing"

    await approve(run, alice)
    await until(lambda: run.approvals.filter(status="expired").exists(), "it expires")
    await worker.finish()

    [second] = await db(asked)(run)
    assert router.ran == []
    events = [e for e in await log_of(run) if e["type"].startswith("approval")]
    assert kinds(events)[-2:] == ["approval_resolved", "approval_required"]
    void, fresh = events[-2]["approvals"][0], events[-1]["approvals"][0]
    assert (void["id"], void["status"]) == (str(first.pk), "expired")
    assert fresh["id"] == str(second.pk)
    assert "configuration of R1 has changed" in fresh["notes"][0]

    await approve(run, alice)
    await ended(run, worker)
    assert router.ran == [["hostname R2"]]


async def test_what_could_not_be_read_binds_to_nothing(
    waiting: Waiting, router: Router, worker: InProcessWorker, alice: User
) -> None:
    router.is_readable = False
    run = await waiting()
    router.is_readable = True

    await approve(run, alice)
    await ended(run, worker)

    assert router.ran == [["hostname R2"]]


async def test_a_worker_that_dies_after_the_decision_asks_and_runs_nothing_twice(
    waiting: Waiting,
    router: Router,
    worker: InProcessWorker,
    alice: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = await waiting()
    # Another worker's: claimed, and dead before it did anything.
    monkeypatch.setattr("chat.approvals.publish", lambda run: True)
    await approve(run, alice)

    def die() -> Run:
        assert Run.objects.get(pk=run.pk).claim(make_worker("dead"))
        Run.objects.filter(pk=run.pk).update(worker=None)
        heir = loaded(run)
        assert heir.take_over(make_worker("heir"), 5)
        return heir

    heir = await db(die)()
    await Execution(heir, worker._checkpoints).execute()

    assert (await db(status_of)(run), router.ran) == ("succeeded", [["hostname R2"]])
    assert await db(run.approvals.count)() == 1


async def test_stop_while_waiting_ends_the_run_at_once(
    waiting: Waiting, router: Router, session: ChatSession
) -> None:
    run = await waiting()

    assert await db(stop_session)(session)

    run = await db(loaded)(run)
    assert (run.status, run.reason) == (Status.STOPPED, "user")
    events = await log_of(run)
    assert kinds(events)[-3:] == ["approval_resolved", "stopped", "done"]
    assert events[-3]["approvals"][0]["status"] == "cancelled"
    assert events[-1]["seq"] == run.saved_seq
    assert await db(results)(run) == ["Cancelled before it ran."]


@pytest.mark.parametrize("strategy", ["reject", "enqueue", "interrupt"])
async def test_a_new_message_rejects_what_waits_and_starts_the_next_round(
    waiting: Waiting,
    router: Router,
    worker: InProcessWorker,
    session: ChatSession,
    lab: Project,
    alice: User,
    provider: ScriptedProvider,
    strategy: Any,
) -> None:
    run = await waiting()
    provider.script(says("As you like."))

    started = await db(start_run)(
        user=alice,
        project=lab,
        message="Leave it, I do that myself.",
        session_id=session.thread_id,
        multitask_strategy=strategy,
    )
    following = await ended(started.run, worker)

    run = await db(loaded)(run)
    assert (run.status, run.reason) == (Status.STOPPED, "new_message")
    assert (following.round, following.status) == (2, Status.SUCCEEDED)
    assert router.ran == []
    [row] = await db(asked)(run, "rejected")
    assert (row.reason, row.decided_by) == ("Leave it, I do that myself.", alice)
    asked_of = json.dumps(provider.requests[-1].messages)
    assert asked_of.count("Leave it, I do that myself.") == 2
    events = await log_of(run)
    closing = ["approval_resolved", "tool_end", "stopped", "done"]
    assert kinds(events)[-4:] == closing
    assert events[-1]["seq"] == run.saved_seq


async def test_a_message_that_waited_in_line_goes_before_the_one_that_freed_it(
    waiting: Waiting,
    worker: InProcessWorker,
    session: ChatSession,
    lab: Project,
    alice: User,
    provider: ScriptedProvider,
) -> None:
    await waiting()
    second = await db(make_run)(session, status=Status.PENDING, text="And then?")
    provider.script(says("Fine."))

    third = await db(start_run)(
        user=alice, project=lab, message="No.", session_id=session.thread_id
    )

    for run in (second, third.run):
        assert (await ended(run, worker)).status == Status.SUCCEEDED
    assert (second.round, third.run.round) == (2, 3)


async def test_a_repeated_request_after_a_rejection_is_the_same_message(
    waiting: Waiting,
    worker: InProcessWorker,
    session: ChatSession,
    lab: Project,
    alice: User,
    provider: ScriptedProvider,
) -> None:
    await waiting()
    provider.script(says("Fine."))
    wanted = {"message": "No.", "session_id": session.thread_id, "request_key": "k"}

    first = await db(start_run)(user=alice, project=lab, **wanted)
    again = await db(start_run)(user=alice, project=lab, **wanted)

    assert (again.run.pk, again.is_repeated) == (first.run.pk, True)
    assert await db(session.runs.count)() == 2
    await ended(first.run, worker)


async def test_nobody_decides_for_long_so_the_run_ends(
    waiting: Waiting, settings: Any
) -> None:
    run = await waiting()
    assert not await db(overdue().exists)()
    late = timezone.now() - timedelta(hours=settings.APPROVAL_HOURS, seconds=1)
    await db(run.approvals.update)(requested_at=late)

    assert await db(overdue().exists)()
    assert await db(end_overdue)() == 1

    run = await db(loaded)(run)
    assert (run.status, run.reason) == (Status.STOPPED, "approval_expired")
    assert await db(lambda: run.approvals.get().status)() == "expired"
    assert await db(end_overdue)() == 0


async def test_a_deleted_session_takes_its_approvals_along(
    waiting: Waiting, session: ChatSession
) -> None:
    await waiting()

    await db(delete_session)(session)

    assert not await db(Approval.objects.exists)()


async def test_a_member_who_may_not_change_is_not_asked_but_refused(
    session: ChatSession,
    llm: Any,
    worker: InProcessWorker,
    router: Router,
    provider: ScriptedProvider,
    lab: Project,
    alice: User,
) -> None:
    await db(Membership.objects.filter(user=alice).update)(role=Role.MEMBER)
    provider.script(calls(("change", RENAME)), says("I may not."))
    run = await db(make_run)(session)

    worker.publish(run)
    await ended(run, worker)

    assert (router.ran, await db(Approval.objects.count)()) == ([], 0)
    assert "no right to change" in (await db(results)(run))[0]


@pytest.mark.parametrize(
    ("policy", "expected"), [("trust", [["hostname R2"]]), ("never_change", [])]
)
async def test_other_policies_ask_nobody(
    session: ChatSession,
    llm: Any,
    worker: InProcessWorker,
    router: Router,
    provider: ScriptedProvider,
    settings: Any,
    policy: str,
    expected: Any,
) -> None:
    settings.APPROVAL_POLICY = policy
    provider.script(calls(("change", RENAME)), says("Done."))
    run = await db(make_run)(session)

    worker.publish(run)
    run = await ended(run, worker)

    assert (run.status, router.ran) == (Status.SUCCEEDED, expected)
    assert not await db(Approval.objects.exists)()


async def test_a_follower_who_comes_late_sees_what_waits(
    waiting: Waiting, valkey: Any
) -> None:
    run = await waiting()
    await redis().delete(RunAddress.of(run).key)

    async with asyncio.timeout(20):
        async for item in follow(RunAddress.of(run)):
            assert isinstance(item, Batch)
            [entry] = item.entries
            snapshot = json.loads(entry.data)
            break

    assert snapshot["type"] == "snapshot"
    assert snapshot["run"]["status"] == "waiting_approval"
    assert [each["status"] for each in snapshot["approvals"]] == ["waiting"]
