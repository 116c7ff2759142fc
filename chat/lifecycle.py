"""What happens here when a project is closed or deleted in GNS3.

Whoever notices writes the project's row; the workers look at the rows.
"""

import logging
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from datetime import timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from chat.agent.checkpoints import store_path
from chat.control import forget_logs
from chat.documents.store import release
from chat.events.address import RunAddress
from chat.models import ChatSession, Run
from chat.models.run import EXECUTING, FINISHED, Status
from chat.models.run import RunQuerySet as Runs
from chat.stopping import stop_run
from projects.models import Project, PurgedProject
from projects.models import ProjectQuerySet as Projects

logger = logging.getLogger(__name__)

# Small transactions: a worker's heartbeat must get its turn in SQLite.
_SESSIONS_AT_ONCE = 10
_CHECKPOINT_TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes", "writes")
_UNSTOPPED = (
    Status.PENDING,
    Status.QUEUED,
    Status.RUNNING,
    Status.WAITING_APPROVAL,
)


def runs_to_stop() -> Runs:
    """What still runs, or waits, in projects that were closed or deleted."""
    deleted = Q(session__project__deleted_at__isnull=False)
    closed = Q(session__project__status=Project.Status.CLOSED)
    return Run.objects.filter(deleted | closed, status__in=_UNSTOPPED)


def stop_runs_of_gone_projects() -> int:
    """How many were told to stop."""
    # Those in line first, or the end of one would let the next begin.
    runs = runs_to_stop().select_related("session__project").order_by("-round")
    return sum(stop_run(run, reason=_reason(run)) for run in runs)


def closed_among(project_ids: Iterable[str]) -> set[str]:
    """Those that are opened on no server: nobody needs their checkpoints open."""
    ids = {project_id for project_id in project_ids if project_id}
    if not ids:
        return ids
    opened = Project.objects.present().filter(
        project_id__in=ids, status=Project.Status.OPENED
    )
    return ids - set(opened.values_list("project_id", flat=True))


def due_projects() -> Projects:
    """Deleted in GNS3 for as long as they are kept."""
    kept = timedelta(days=settings.PROJECT_RETENTION_DAYS)
    return Project.objects.due_for_purge(timezone.now() - kept)


def purge_projects() -> list[PurgedProject]:
    """Remove all that hangs on them but the ledger; a record of each removal."""
    purged = (_purge(project) for project in due_projects().select_related("server"))
    return [record for record in purged if record is not None]


def _reason(run: Run) -> str:
    project = run.session.project
    is_deleted = project is not None and project.deleted_at is not None
    return "project_deleted" if is_deleted else "project_closed"


def _purge(project: Project) -> PurgedProject | None:
    """None where a run still goes on, or another worker was faster."""
    runs = Run.objects.filter(session__project=project)
    for run in runs.exclude(status__in=FINISHED).order_by("-round"):
        stop_run(run, reason="project_deleted")
    if runs.filter(status__in=EXECUTING).exists():
        logger.info("Project %s is purged when its runs have ended", project.project_id)
        return None
    counts: Counter[str] = Counter()
    sessions = ChatSession.objects.filter(project=project)
    while keys := list(sessions.values_list("pk", flat=True)[:_SESSIONS_AT_ONCE]):
        counts += _purge_sessions(project, keys)
    with transaction.atomic():
        _, removed = Project.objects.filter(
            pk=project.pk, deleted_at=project.deleted_at
        ).delete()
        if not removed.get("projects.Project"):
            return None
        counts += Counter(removed)
        record = PurgedProject.objects.create(
            server_name=project.server.name,
            project_id=project.project_id,
            name=project.name,
            deleted_by=project.deleted_by,
            deleted_at=project.deleted_at,
            counts=dict(counts),
        )
    _remove_store(project.project_id)
    release()
    logger.info(
        "Purged project %s of %s, deleted by %s: %s",
        project.project_id,
        project.server.name,
        project.deleted_by or "somebody in GNS3",
        dict(counts),
    )
    return record


def _purge_sessions(project: Project, keys: Sequence[int]) -> Counter[str]:
    rows = ChatSession.objects.filter(pk__in=keys)
    threads = list(rows.values_list("thread_id", flat=True))
    runs = Run.objects.filter(session__in=keys).select_related("session")
    addresses = [RunAddress.of(run) for run in runs]
    _, removed = rows.delete()
    forget_logs(addresses)
    _forget_checkpoints(project.project_id, threads)
    return Counter(removed)


def _forget_checkpoints(project_id: str, threads: Sequence[str]) -> None:
    """What killed runs left; two servers may share a store by their projects' id."""
    if not settings.IS_SQLITE:
        known = set(connection.introspection.table_names())
        with connection.cursor() as cursor:
            for table in known.intersection(_CHECKPOINT_TABLES):
                cursor.execute(
                    f"DELETE FROM {table} WHERE thread_id = ANY(%s)", [list(threads)]
                )
        return
    path = store_path(project_id)
    if not path.exists():
        return
    with closing(sqlite3.connect(path, timeout=5)) as store, store:
        tables = store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        for (table,) in tables.fetchall():
            if table in _CHECKPOINT_TABLES:
                store.executemany(
                    f"DELETE FROM {table} WHERE thread_id = ?",
                    [(thread,) for thread in threads],
                )


def _remove_store(project_id: str) -> None:
    """The project's own folder, unless another server has a project of this id."""
    if not Project.objects.filter(project_id=project_id).exists():
        shutil.rmtree(store_path(project_id).parent.parent, ignore_errors=True)
