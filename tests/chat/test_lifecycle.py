"""A project is closed or deleted: runs stop, stores are released, all is purged."""

import logging
import sqlite3
from contextlib import closing
from datetime import timedelta
from io import StringIO

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone

from chat import ending, housekeeping
from chat.agent.checkpoints import Checkpoints, store_path
from chat.ending import end_run
from chat.events.address import RunAddress
from chat.events.log import log_exists
from chat.housekeeping import Housekeeper
from chat.lifecycle import (
    closed_among,
    purge_projects,
    stop_runs_of_gone_projects,
)
from chat.models import ChatSession, LLMCall, Message, Run
from chat.models.run import EXECUTING, Status
from chat.stopping import stop_run
from projects.models import Project, PurgedProject, Server
from tests.chat.support import claimed, db, make_run, make_session, until
from tests.conftest import LAB_ID, OTHER_LAB_ID, Valkey

pytestmark = [pytest.mark.database, pytest.mark.needs("valkey")]


@pytest.fixture(autouse=True)
def published(monkeypatch: pytest.MonkeyPatch, valkey: Valkey) -> list[str]:
    ids: list[str] = []

    def publish(run: Run) -> bool:
        ids.append(str(run.pk))
        return True

    monkeypatch.setattr(ending, "publish", publish)
    return ids


def close(project: Project) -> None:
    project.status = Project.Status.CLOSED
    project.save()


def delete(project: Project, days: float = 30, by: str = "alice") -> None:
    project.deleted_at = timezone.now() - timedelta(days=days)
    project.deleted_by = by
    project.save()


def test_closing_stops_what_runs_and_what_waits(
    lab: Project, session: ChatSession, alice: User, published: list[str]
) -> None:
    active = claimed(make_run(session))
    waiting = [make_run(session, status=Status.PENDING) for _ in range(2)]
    queued = make_run(make_session(alice, lab))
    done = make_run(make_session(alice, lab), status=Status.SUCCEEDED)
    close(lab)

    assert stop_runs_of_gone_projects() == 4

    for run in (active, *waiting, queued, done):
        run.refresh_from_db()
    assert active.status == Status.STOPPING
    assert {run.status for run in (*waiting, queued)} == {Status.STOPPED}
    assert {run.reason for run in (active, *waiting, queued)} == {"project_closed"}
    assert done.status == Status.SUCCEEDED
    assert published == []


def test_one_in_line_is_withdrawn_while_another_is_answered(
    session: ChatSession, published: list[str]
) -> None:
    active = claimed(make_run(session))
    first, second = (make_run(session, status=Status.PENDING) for _ in range(2))

    assert stop_run(second)

    first.refresh_from_db()
    assert first.status == Status.PENDING
    assert published == []
    assert end_run(active, EXECUTING, Status.SUCCEEDED, last_seq=1)
    assert published == [str(first.pk)]


def test_a_stop_is_asked_for_once(lab: Project, session: ChatSession) -> None:
    claimed(make_run(session))
    close(lab)

    assert (stop_runs_of_gone_projects(), stop_runs_of_gone_projects()) == (1, 0)


def test_opened_projects_and_sessions_of_none_go_on(
    lab: Project, session: ChatSession, alice: User
) -> None:
    make_run(session)
    make_run(make_session(alice, None))

    assert stop_runs_of_gone_projects() == 0


def test_deleting_stops_with_its_own_reason(lab: Project, session: ChatSession) -> None:
    run = make_run(session)
    delete(lab, days=0)

    stop_runs_of_gone_projects()

    run.refresh_from_db()
    assert (run.status, run.reason) == (Status.STOPPED, "project_deleted")


async def test_the_store_of_a_closed_project_is_released_when_unused(
    lab: Project, settings: LazySettings
) -> None:
    if not settings.IS_SQLITE:
        pytest.skip("one store for all")
    checkpoints = Checkpoints()
    async with checkpoints.of(LAB_ID):
        await db(close)(lab)
        closed = await db(closed_among)(checkpoints.open_projects())
        await checkpoints.release(closed)
        assert checkpoints.open_projects() == [LAB_ID]

    await checkpoints.release(closed)

    assert checkpoints.open_projects() == []
    await checkpoints.close()


def test_a_project_opened_on_one_of_two_servers_is_not_closed(lab: Project) -> None:
    other = Server.objects.create(name="other", url="http://127.0.0.1:9")
    Project.objects.create(server=other, project_id=LAB_ID, name="Twin")

    assert closed_among([LAB_ID, OTHER_LAB_ID, ""]) == {OTHER_LAB_ID}


# --- Purging ------------------------------------------------------------------------


def finished(session: ChatSession) -> Run:
    run = claimed(make_run(session))
    LLMCall.objects.create(
        run=run,
        session=session,
        user=session.user,
        username="alice",
        project_id=LAB_ID,
        provider="x",
        model="m",
        status=LLMCall.Status.SUCCEEDED,
        input_tokens=7,
        output_tokens=3,
    )
    assert end_run(run, EXECUTING, Status.SUCCEEDED, last_seq=1)
    return run


def test_a_project_is_purged_after_its_days_and_the_ledger_stays(
    lab: Project, session: ChatSession, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    finished(session)
    store_path(LAB_ID).parent.mkdir(parents=True, exist_ok=True)
    store_path(LAB_ID).touch()
    delete(lab, days=8)

    (record,) = purge_projects()

    assert not Project.objects.exists()
    assert not ChatSession.objects.exists()
    assert not Message.objects.exists()
    assert not store_path(LAB_ID).parent.parent.exists()
    call = LLMCall.objects.get()
    assert (call.run, call.session, call.project_id) == (None, None, LAB_ID)
    assert (call.input_tokens, call.username) == (7, "alice")
    assert (record.name, record.deleted_by) == ("Campus", "alice")
    assert record.counts["chat.Message"] == 1
    assert record.counts["chat.ChatSession"] == 1
    assert f"Purged project {LAB_ID} of lab-server, deleted by alice" in caplog.text


@pytest.mark.parametrize(
    ("kept", "age", "purged"),
    [(7, 6.9, 0), (7, 7.1, 1), (0, 0, 1), (0.5, 0.4, 0), (0.5, 0.6, 1)],
)
def test_days_are_kept_to(
    lab: Project, settings: LazySettings, kept: float, age: float, purged: int
) -> None:
    settings.PROJECT_RETENTION_DAYS = kept
    delete(lab, days=age)

    assert len(purge_projects()) == purged


def test_a_closed_project_is_never_purged(
    lab: Project, session: ChatSession, settings: LazySettings
) -> None:
    settings.PROJECT_RETENTION_DAYS = 0
    close(lab)

    assert purge_projects() == []
    assert ChatSession.objects.count() == 1


def test_what_still_runs_is_stopped_first_and_purged_later(
    lab: Project, session: ChatSession
) -> None:
    run = claimed(make_run(session))
    delete(lab)

    assert purge_projects() == []

    run.refresh_from_db()
    assert (run.status, run.reason) == (Status.STOPPING, "project_deleted")
    assert end_run(run, EXECUTING, Status.STOPPED, last_seq=1)
    assert len(purge_projects()) == 1


async def test_event_logs_go_too(lab: Project, session: ChatSession) -> None:
    run = await db(make_run)(session)
    await db(stop_run)(run)
    address = RunAddress.of(run)
    assert await log_exists(address)
    await db(delete)(lab)

    await db(purge_projects)()

    assert not await log_exists(address)


def test_the_twin_of_another_server_keeps_all_that_is_its_own(
    lab: Project, session: ChatSession, alice: User, settings: LazySettings
) -> None:
    other = Server.objects.create(name="other", url="http://127.0.0.1:9")
    twin = Project.objects.create(server=other, project_id=LAB_ID, name="Twin")
    theirs = make_session(alice, twin)
    finished(theirs)
    path = store_path(LAB_ID)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as store, store:
        store.execute("CREATE TABLE checkpoints (thread_id TEXT)")
        threads = [(session.thread_id,), (theirs.thread_id,)]
        store.executemany("INSERT INTO checkpoints VALUES (?)", threads)
    delete(lab)

    assert len(purge_projects()) == 1

    assert list(ChatSession.objects.all()) == [theirs]
    assert path.exists()
    if settings.IS_SQLITE:
        with closing(sqlite3.connect(path)) as store:
            rows = store.execute("SELECT thread_id FROM checkpoints").fetchall()
        assert rows == [(theirs.thread_id,)]
    path.unlink()


def test_many_sessions_are_purged_in_small_parts(lab: Project, alice: User) -> None:
    for _ in range(25):
        finished(make_session(alice, lab))
    delete(lab)

    (record,) = purge_projects()

    assert record.counts["chat.ChatSession"] == 25
    assert record.counts["chat.Run"] == 25


def test_the_command_tells_what_it_purged(lab: Project) -> None:
    delete(lab)
    out = StringIO()

    call_command("purge_projects", stdout=out)
    call_command("purge_projects", stdout=out)

    assert "Campus" in out.getvalue()
    assert out.getvalue().endswith("0 projects purged\n")
    assert PurgedProject.objects.count() == 1


# --- The worker's part ---------------------------------------------------------------


async def test_a_heartbeat_stops_what_has_to_stop(
    lab: Project, session: ChatSession
) -> None:
    run = await db(make_run)(session)
    await db(close)(lab)

    await db(Housekeeper().beat)()

    await until(lambda: not Run.objects.active().exists(), "stopped")
    await run.arefresh_from_db()
    assert run.reason == "project_closed"


async def test_a_chore_that_fails_is_done_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    asked: list[int] = []

    def work() -> None:
        asked.append(1)
        raise ValueError("no")

    chore = housekeeping.Chore("test", work)
    for count in (1, 2):
        chore.begin()
        thread = chore._thread
        assert thread is not None
        await db(thread.join)()
        assert len(asked) == count

    assert "chore test failed" in caplog.text


async def test_with_no_days_a_heartbeat_purges_at_once(
    lab: Project, session: ChatSession, settings: LazySettings
) -> None:
    settings.PROJECT_RETENTION_DAYS = 0
    await db(make_run)(session)
    await db(delete)(lab, days=0)

    await db(Housekeeper().beat)()

    await until(lambda: not Project.objects.exists(), "purged")


async def test_otherwise_once_an_hour(
    lab: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    await db(delete)(lab)
    keeper = Housekeeper()
    await db(keeper.beat)()
    assert await db(Project.objects.exists)()

    monkeypatch.setattr(housekeeping, "_PURGE_SECONDS", 0.0)
    await db(keeper.beat)()

    await until(lambda: not Project.objects.exists(), "purged")
