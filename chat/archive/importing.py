"""An archive → rows of a project here: each session whole or not at all."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from chat.archive import columns
from chat.archive.container import Reader, reading
from chat.archive.errors import TargetRefused
from chat.archive.exporting import KIND
from chat.archive.sessions import Line, Walk, check
from chat.archive.settling import settle, stray_rows
from chat.models import ChatSession, LLMCall
from projects.models import Project

logger = logging.getLogger(__name__)

SIZE_LIMIT = 8 * 1024**3
_BATCH = 500


@dataclass(frozen=True)
class Report:
    """What became of one session."""

    thread_id: str
    outcome: str
    username: str = ""
    title: str = ""
    note: str = ""


class People:
    """Who the users of the archive are here."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._found: dict[str, User | None] = {}

    def find(self, name: str | None) -> User | None:
        if name is None:
            return None
        here = self._names.get(name, name)
        if here not in self._found:
            self._found[here] = User.objects.filter(username=here).first()
        return self._found[here]

    def create(self, name: str) -> bool:
        """An account that nobody can use until an operator enables it."""
        if self.find(name) is not None:
            return False
        here = self._names.get(name, name)
        self._found[here] = User.objects.create_user(here, is_active=False)
        return True


class Archive:
    """A checked archive, ready to be imported."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        reader.verify()
        self.users = sorted(check(reader))
        project = reader.manifest.get("project")
        match project:
            case {"project_id": str(key), "name": str(name)}:
                self.project_id, self.project_name = key, name
            case _:
                raise TargetRefused("The archive does not name its project.")

    def bring(self, project: Project, people: People) -> Iterator[Report]:
        """One report a session, as it is done."""
        walk = Walk(self._reader)
        for line in walk.sessions():
            yield _bring_session(line, walk, project, people)
        with transaction.atomic():
            _bring_ledger(None, walk, project, people)


@contextmanager
def open_archive(path: Path, *, size_limit: int = SIZE_LIMIT) -> Iterator[Archive]:
    """Checked to its last line. Raises ArchiveRefused."""
    with reading(path, KIND, size_limit=size_limit) as reader:
        yield Archive(reader)


def _bring_session(line: Line, walk: Walk, project: Project, people: People) -> Report:
    thread_id, title = line["thread_id"], line["title"]
    user = people.find(line["user"])
    if user is None:
        note = f"There is no user {line['user']} here."
        return Report(thread_id, "skipped", title=title, note=note)
    told = (user.get_username(), title)
    known = ChatSession.objects.filter(thread_id=thread_id).first()
    if known is not None:
        if (known.user_id, known.project_id) == (user.pk, project.pk):
            return Report(thread_id, "unchanged", *told)
        note = "A session of this id belongs to another user or project."
        return Report(thread_id, "failed", *told, note=note)
    try:
        with transaction.atomic():
            session = ChatSession.objects.create(
                user=user, project=project, **columns.SESSIONS.parse(line)
            )
            _bring_rows(session, walk, people)
            _bring_ledger(session, walk, project, people)
            settle(session)
            if stray_rows(session):
                raise IntegrityError("Rows refer to another session.")
    except IntegrityError as exc:
        logger.info("Session %s is not imported: %s", thread_id, exc)
        note = "Its rows refer to others, or exist here already; none was kept."
        return Report(thread_id, "failed", *told, note=note)
    return Report(thread_id, "imported", *told)


def _bring_rows(session: ChatSession, walk: Walk, people: People) -> None:
    own: dict[str, Any] = {"session": session}
    for part, extra in (
        (columns.RUNS, own),
        (columns.MESSAGES, own),
        (columns.TOOL_CALLS, {}),
        (columns.APPROVALS, {}),
    ):
        lines = walk.lines(part, session.thread_id)
        people_links = [name for name in part.links if name != "session"]
        while batch := list(islice(lines, _BATCH)):
            _check_runs(session, batch)
            # mypy knows no manager of a class that is a variable.
            manager: Any = part.model._default_manager
            manager.bulk_create(
                part.model(
                    **part.parse(line),
                    **{name: people.find(line[name]) for name in people_links},
                    **extra,
                )
                for line in batch
            )


def _bring_ledger(
    session: ChatSession | None, walk: Walk, project: Project, people: People
) -> None:
    """Rows that outlived their session here are taken back, not doubled."""
    same = ("started_at", "username", "provider", "model", "operation", "attempt")
    thread_id = session.thread_id if session else None
    lines = walk.lines(columns.LLM_CALLS, thread_id)
    while batch := list(islice(lines, _BATCH)):
        if session is not None:
            _check_runs(session, batch)
        for line in batch:
            values = columns.LLM_CALLS.parse(line)
            run_id = values.pop("run_id")
            whose = {
                "session": session,
                "run_id": run_id if session else None,
                "user": people.find(line["user"]),
            }
            key = {"project_id": project.project_id}
            left = LLMCall.objects.filter(
                session=None, **key, **{name: values[name] for name in same}
            )
            known = left.first()
            if known is None:
                values |= {"project_name": project.name}
                LLMCall.objects.create(**values, **whose, **key)
            elif session is not None:
                LLMCall.objects.filter(pk=known.pk).update(**whose)


def _check_runs(session: ChatSession, batch: list[Line]) -> None:
    """A forged line could name the run of another session."""
    named = {line["run_id"] for line in batch if line.get("run_id")}
    if session.runs.filter(pk__in=named).count() != len(named):
        raise IntegrityError("Rows refer to a run of another session.")
