import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, connections, transaction
from django.db.models.functions import Now
from django.utils import timezone

from chat.models import ChatSession, Run, Worker
from chat.models.run import ACTIVE, FINISHED, Status
from tests.chat.support import make_run, make_worker

pytestmark = pytest.mark.database
LEASE = 4.0


def kill(worker: Worker) -> None:
    Worker.objects.filter(pk=worker.pk).update(
        heartbeat_at=Now() - timedelta(seconds=60)
    )


def all_at_once(*actions: object) -> list[object]:
    """Run in threads that start together; what each returned."""
    barrier = threading.Barrier(len(actions))

    def one(action):
        barrier.wait(10)
        try:
            return action()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(actions)) as pool:
        return list(pool.map(one, actions))


@pytest.mark.parametrize("first", ACTIVE)
@pytest.mark.parametrize("second", ACTIVE)
def test_a_session_has_one_unfinished_run(
    session: ChatSession, first: Status, second: Status
) -> None:
    make_run(session, status=first)

    with pytest.raises(IntegrityError), transaction.atomic():
        make_run(session, status=second)


@pytest.mark.parametrize("other", [*FINISHED, Status.PENDING])
def test_waiting_and_finished_runs_stand_beside_an_unfinished_one(
    session: ChatSession, other: Status
) -> None:
    make_run(session, status=other)
    make_run(session, status=other)
    make_run(session, status=Status.RUNNING)

    assert session.runs.count() == 3


def test_a_round_exists_once_in_a_session(session: ChatSession) -> None:
    make_run(session, status=Status.SUCCEEDED, round=1)

    with pytest.raises(IntegrityError), transaction.atomic():
        make_run(session, status=Status.SUCCEEDED, round=1)


def test_of_two_claims_at_once_one_wins(run: Run) -> None:
    workers = [make_worker("a"), make_worker("b")]

    def claim(worker: Worker):
        return lambda: Run.objects.get(pk=run.pk).claim(worker)

    won = all_at_once(*(claim(worker) for worker in workers))

    assert sorted(won) == [False, True]
    run.refresh_from_db()
    assert run.worker == workers[won.index(True)]
    assert run.attempt == 1
    assert run.started_at is not None


@pytest.mark.parametrize("status", [status for status in Status if status != "queued"])
def test_only_a_queued_run_is_claimed(session: ChatSession, status: Status) -> None:
    run = make_run(session, status=status)

    assert not run.claim(make_worker())
    run.refresh_from_db()
    assert (run.status, run.attempt) == (status, 0)


def test_of_two_takeovers_at_once_one_wins(run: Run) -> None:
    dead = make_worker("dead")
    run.claim(dead)
    kill(dead)
    heirs = [make_worker("a"), make_worker("b")]

    def take(worker: Worker):
        return lambda: Run.objects.get(pk=run.pk).take_over(worker, LEASE)

    won = all_at_once(*(take(heir) for heir in heirs))

    assert sorted(won) == [False, True]
    run.refresh_from_db()
    assert run.attempt == 2
    assert run.worker == heirs[won.index(True)]


def test_a_living_workers_run_is_not_taken_over(run: Run) -> None:
    run.claim(make_worker("alive"))

    assert not run.take_over(make_worker("greedy"), LEASE)
    assert run not in Run.objects.orphaned(LEASE)


def test_a_run_whose_workers_row_is_gone_is_orphaned(run: Run) -> None:
    worker = make_worker()
    run.claim(worker)
    worker.delete()

    assert run in Run.objects.orphaned(LEASE)
    run.refresh_from_db()
    assert run.take_over(make_worker("heir"), LEASE)


def test_a_takeover_with_an_old_attempt_is_refused(run: Run) -> None:
    run.claim(make_worker())
    stale = Run.objects.get(pk=run.pk)
    Run.objects.filter(pk=run.pk).update(attempt=2, worker=None)

    assert not stale.take_over(make_worker("heir"), LEASE)


def test_a_beat_makes_a_dead_worker_alive_and_fails_without_its_row(
    transactional_db: None,
) -> None:
    worker = make_worker()
    kill(worker)
    assert worker in Worker.objects.dead(LEASE)

    assert worker.beat()
    assert worker not in Worker.objects.dead(LEASE)

    Worker.objects.all().delete()
    assert not worker.beat()


def test_of_two_ends_at_once_one_wins(run: Run) -> None:
    run.claim(make_worker())

    def end(status: Status):
        return lambda: Run.objects.get(pk=run.pk).finish(
            [Status.RUNNING, Status.STOPPING], status, attempt=1
        )

    won = all_at_once(end(Status.SUCCEEDED), end(Status.STOPPED))

    assert sorted(won) == [False, True]
    run.refresh_from_db()
    assert run.status == [Status.SUCCEEDED, Status.STOPPED][won.index(True)]


def test_an_older_attempt_cannot_end_the_run(run: Run) -> None:
    run.claim(make_worker())
    Run.objects.filter(pk=run.pk).update(attempt=2)

    assert not run.finish([Status.RUNNING], Status.SUCCEEDED, attempt=1)
    run.refresh_from_db()
    assert run.status == Status.RUNNING


def test_the_end_wipes_the_secrets_and_frees_the_worker(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(secrets="token-of-a-person")
    run.claim(make_worker())

    run.finish([Status.RUNNING], Status.SUCCEEDED, attempt=1)

    with connection.cursor() as cursor:
        cursor.execute("SELECT secrets, worker_id FROM chat_run")
        secrets, worker = cursor.fetchone()
    assert not bytes(secrets)
    assert worker is None


def test_a_stop_asks_only_where_a_worker_listens(session: ChatSession) -> None:
    waiting = make_run(session, status=Status.PENDING)
    running = make_run(session, status=Status.RUNNING)

    assert not waiting.request_stop("user")
    assert running.request_stop("user")
    running.refresh_from_db()
    assert (running.status, running.reason) == (Status.STOPPING, "user")
    assert running.stop_requested_at is not None


def test_a_queued_run_is_stale_after_a_while_only(run: Run) -> None:
    assert run not in Run.objects.stale(5)

    Run.objects.filter(pk=run.pk).update(
        published_at=timezone.now() - timedelta(seconds=6)
    )

    assert run in Run.objects.stale(5)
    run.claim(make_worker())
    assert run not in Run.objects.stale(5)
