"""Calls and decisions of odd shapes: too long, repeated, broken, or of what is gone."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User

from chat.approvals import Decision, decide
from chat.deletion import delete_session
from chat.events.address import RunAddress
from chat.models import Approval, Run
from chat.models.run import Status
from copilot_site.lib.errors import NotFound
from tests.chat.approvals.conftest import Router, Waiting, status_of
from tests.chat.approvals.test_api import approval_of, body, post
from tests.chat.approvals.test_waiting import RENAME, approve, ended, reject, results
from tests.chat.conftest import InProcessWorker
from tests.chat.support import db, events_of, until
from tests.fakes.provider import ScriptedProvider, calls, says

pytestmark = [pytest.mark.needs("valkey"), pytest.mark.database]

HALF = "\ud800"


async def test_half_a_character_in_a_call_is_asked_for_and_run_as_shown(
    waiting: Waiting, router: Router, worker: InProcessWorker, alice: User
) -> None:
    run = await waiting(("change", {"lines": [f"hostname {HALF}\0R2"]}))

    assert run.status == Status.WAITING_APPROVAL
    [shown] = (await events_of(RunAddress.of(run)))[-1]["approvals"]
    await approve(run, alice)
    run = await ended(run, worker)
    assert (run.status, run.error) == (Status.SUCCEEDED, "")
    assert router.ran == [shown["arguments"]["lines"]] == [["hostname \ufffdR2"]]


async def test_an_edit_with_half_a_character_runs_without_it(
    waiting: Waiting, router: Router, worker: InProcessWorker, alice: User
) -> None:
    run = await waiting()
    wanted = await db(approval_of)(run)
    edited = {**wanted, "arguments": {"lines": [f"hostname {HALF}R3"]}}

    response = await db(post)(alice, run, body(edited))

    assert response.status_code == 200, response.content
    await ended(run, worker)
    assert router.ran == [["hostname \ufffdR3"]]


async def test_an_edit_that_is_nested_without_end_decides_nothing(
    waiting: Waiting, router: Router, alice: User
) -> None:
    run = await waiting()
    wanted = await db(approval_of)(run)
    for depth in (60, 900, 20_000):
        deep = "[" * depth + "]" * depth
        text = json.dumps({**wanted, "arguments": {"lines": "deep"}})
        text = f'{{"decisions": [{text}]}}'.replace('"deep"', deep)

        response = await db(post)(alice, run, text)

        assert response.status_code in (400, 422), response.content
    assert await db(status_of)(run) == "waiting_approval"


async def test_a_decision_on_a_run_that_was_just_deleted_finds_nothing(
    waiting: Waiting, router: Router, alice: User
) -> None:
    run = await waiting()
    row = await db(Approval.objects.get)(run=run)
    await db(delete_session)(run.session)

    with pytest.raises(NotFound):
        await db(decide)(
            run=run, user=alice, decisions=[Decision(str(row.pk), is_approved=True)]
        )


async def test_what_nobody_can_read_is_not_asked_for(
    waiting: Waiting, router: Router
) -> None:
    run = await waiting(("change", {"lines": ["no shutdown"] * 8_000}))

    assert (run.status, router.ran) == (Status.SUCCEEDED, [])
    [told] = await db(results)(run)
    assert "Split the change" in told


async def test_a_call_that_was_rejected_is_not_asked_for_again_in_its_round(
    waiting: Waiting,
    router: Router,
    worker: InProcessWorker,
    alice: User,
    provider: ScriptedProvider,
) -> None:
    run = await waiting()
    again, other = calls(("change", RENAME)), calls(("change", {"lines": ["banner"]}))
    provider.script(again, again, other, says("Done."))

    await reject(run, alice, "Not now.")
    await until(lambda: _open(run) == 1, "the other change is asked for")

    assert await db(status_of)(run) == "waiting_approval"
    told = [json.loads(text)["error"] for text in await db(results)(run)]
    assert "alice rejected it" in told[0]
    assert ["just been rejected" in text for text in told[1:]] == [True, True]
    await worker.finish()
    await approve(run, alice)
    run = await ended(run, worker)
    assert (run.status, router.ran) == (Status.SUCCEEDED, [["banner"]])


async def test_of_two_equal_calls_one_may_be_rejected(
    waiting: Waiting, router: Router, worker: InProcessWorker, alice: User
) -> None:
    run = await waiting(("change", RENAME), ("change", RENAME))
    rows: list[Any] = await db(lambda: list(run.approvals.all()))()

    decisions = [Decision(str(rows[0].pk), False), Decision(str(rows[1].pk), True)]
    await db(decide)(run=run, user=alice, decisions=decisions)

    run = await ended(run, worker)
    assert (run.status, router.ran) == (Status.SUCCEEDED, [["hostname R2"]])


def _open(run: Run) -> int:
    if status_of(run) != "waiting_approval":
        return 0
    return run.approvals.filter(status="waiting").count()
