"""Import a file of GNS3's Copilot: each thread whole or not at all."""

import logging
import sqlite3
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from django.contrib.auth.models import User
from django.db import Error, transaction
from django.utils import timezone

from chat.importing.errors import ThreadRefused
from chat.importing.plain import count, json_object, moment, storable_text
from chat.importing.rounds import Conversation, conversation_of
from chat.importing.rows import Rows, rows_of
from chat.importing.source import Checkpoint, Source, Thread, open_source
from chat.models import ChatSession, Message, Run, ToolCall
from chat.models.session import TITLE_LENGTH
from projects.models import Project

logger = logging.getLogger(__name__)

_UNTITLED = {"", "New Conversation", "Untitled Session"}
_TITLE_LENGTH = 28


class Outcome(StrEnum):
    IMPORTED = "imported"
    EXTENDED = "extended"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass
class ThreadReport:
    """What became of one thread."""

    thread_id: str
    outcome: Outcome = Outcome.FAILED
    title: str = ""
    username: str = ""
    messages: int = 0
    tool_calls: int = 0
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Target:
    """Where the conversations go, and to whom."""

    project: Project
    users: Mapping[str, User]
    default_user: User | None = None
    is_dry_run: bool = False


def import_file(path: Path, target: Target) -> Iterator[ThreadReport]:
    """One report a thread, as it is done. Raises SourceUnreadable."""
    with open_source(path) as source:
        for thread_id in source.thread_ids():
            yield _import_thread(source, thread_id, target)


def _import_thread(source: Source, thread_id: str, target: Target) -> ThreadReport:
    report = ThreadReport(storable_text(thread_id))
    try:
        thread = source.thread(thread_id)
        checkpoint = source.checkpoint(thread_id)
        _place(thread, checkpoint, target, report)
    except ThreadRefused as exc:
        report.outcome = Outcome.FAILED
        report.notes.append(str(exc))
    except (sqlite3.Error, Error, RecursionError) as exc:
        report.outcome = Outcome.FAILED
        report.notes.append("Its rows can't be read or stored; nothing of it was kept.")
        logger.info("Thread %s is not imported: %r", report.thread_id, exc)
    return report


def _place(
    thread: Thread, checkpoint: Checkpoint | None, target: Target, report: ThreadReport
) -> None:
    thread_id = _checked(thread.thread_id)
    source_user = thread.text("user_id")
    if not source_user and checkpoint is not None:
        source_user = str(checkpoint.metadata.get("user_id") or "")
    user = target.users.get(source_user, target.default_user)
    if user is None:
        report.outcome = Outcome.SKIPPED
        report.notes.append(f"Nobody here is mapped to user {source_user[:60] or '?'}.")
        return
    report.username = user.get_username()
    if checkpoint is None:
        report.notes.append("It has no checkpoint: no messages.")
    session = _session_of(thread_id, thread, checkpoint, target.project, user)
    conversation = conversation_of(
        checkpoint.messages if checkpoint else [], started=session.created_at
    )
    _complete(session, thread, conversation)
    report.title = session.title
    _tell(conversation, report)
    with transaction.atomic():
        _store(session, conversation, report)
        if target.is_dry_run:
            transaction.set_rollback(True)


def _store(
    session: ChatSession, conversation: Conversation, report: ThreadReport
) -> None:
    known = (
        ChatSession.objects.select_for_update()
        .filter(thread_id=session.thread_id)
        .first()
    )
    if known is None:
        session.save(force_insert=True)
        _insert(rows_of(session, conversation), report, Outcome.IMPORTED)
        return
    if (known.user_id, known.project_id) != (session.user_id, session.project_id):
        raise ThreadRefused("A session of this id belongs to another user or project.")
    rows = rows_of(known, conversation)
    stored = list(
        known.messages.order_by("round", "sequence").values_list("pk", flat=True)
    )
    found = [message.pk for message in rows.messages]
    if stored[: len(found)] == found:
        report.outcome = Outcome.UNCHANGED
    elif found[: len(stored)] == stored:
        _extend(known, session, rows, len(stored), report)
    else:
        report.outcome = Outcome.SKIPPED
        report.notes.append("It went on differently here; nothing was changed.")


def _extend(
    known: ChatSession,
    newer: ChatSession,
    rows: Rows,
    kept: int,
    report: ThreadReport,
) -> None:
    """Add what GNS3's Copilot said since the last import."""
    runs = {run.pk for run in known.runs.all()}
    fields = ["status", "reason", "message_count", "llm_calls_count", "finished_at"]
    Run.objects.bulk_update(
        [run for run in rows.runs if run.pk in runs],
        [*fields, "input_tokens", "output_tokens"],
    )
    added = {message.pk for message in rows.messages[kept:]}
    rows.runs = [run for run in rows.runs if run.pk not in runs]
    rows.messages = rows.messages[kept:]
    rows.calls = [call for call in rows.calls if call.message_id in added]
    _insert(rows, report, Outcome.EXTENDED)
    counters = ("message_count", "llm_calls_count", "input_tokens", "output_tokens")
    names = (*counters, "total_tokens", "last_message_at", "updated_at", "stats")
    for name in names:
        setattr(known, name, getattr(newer, name))
    known.save(update_fields=names)


def _insert(rows: Rows, report: ThreadReport, outcome: Outcome) -> None:
    ids = [message.pk for message in rows.messages]
    for start in range(0, len(ids), 500):
        if Message.objects.filter(pk__in=ids[start : start + 500]).exists():
            raise ThreadRefused("Messages of these ids belong to another session.")
    Run.objects.bulk_create(rows.runs)
    Message.objects.bulk_create(rows.messages, batch_size=500)
    ToolCall.objects.bulk_create(rows.calls, batch_size=500)
    report.outcome = outcome
    report.messages, report.tool_calls = len(rows.messages), len(rows.calls)


def _session_of(
    thread_id: str,
    thread: Thread,
    checkpoint: Checkpoint | None,
    project: Project,
    user: User,
) -> ChatSession:
    row, written = thread.session, checkpoint.written_at if checkpoint else None
    updated = moment(row.get("updated_at")) or moment(written) or timezone.now()
    metadata = json_object(row.get("metadata"))
    if checkpoint and "copilot_mode" in checkpoint.metadata:
        metadata.setdefault("copilot_mode", checkpoint.metadata["copilot_mode"])
    title = storable_text(thread.text("title")).strip()[:TITLE_LENGTH]
    return ChatSession(
        thread_id=thread_id,
        user=user,
        project=project,
        title=title if title not in _UNTITLED else "",
        # Made or chosen there: nothing here may replace it.
        is_title_final=title not in _UNTITLED,
        created_at=moment(row.get("created_at")) or moment(written) or updated,
        updated_at=updated,
        last_message_at=moment(row.get("last_message_at")),
        metadata=metadata | {"imported_from": "gns3"},
        stats=json_object(row.get("stats")),
        pinned=row.get("pinned") in (1, "1", "true", "TRUE"),
    )


def _complete(session: ChatSession, thread: Thread, conversation: Conversation) -> None:
    """Fill in what only the messages tell."""
    turns = list(conversation.turns)
    row = thread.session
    if not session.title:
        questions = (turn.content.strip() for turn in turns if turn.role == "user")
        session.title = next(questions, "")[:_TITLE_LENGTH].strip()
    read = sum(turn.input_tokens or 0 for turn in turns)
    written = sum(turn.output_tokens or 0 for turn in turns)
    answers = sum(turn.role == "assistant" for turn in turns)
    session.message_count = count(row.get("message_count", len(turns)))
    session.llm_calls_count = count(row.get("llm_calls_count", answers))
    session.input_tokens = count(row.get("input_tokens", read))
    session.output_tokens = count(row.get("output_tokens", written))
    session.total_tokens = count(row.get("total_tokens", read + written))
    if turns:
        session.last_message_at = session.last_message_at or turns[-1].created_at
        if "created_at" not in row and turns[0].created_at:
            session.created_at = turns[0].created_at


def _tell(conversation: Conversation, report: ThreadReport) -> None:
    counts = {
        "system or unknown messages left out": conversation.left_out,
        "results without a call left out": conversation.orphans,
        "calls without a result closed": conversation.closed,
    }
    report.notes += [f"{number} {what}." for what, number in counts.items() if number]


def _checked(thread_id: str) -> str:
    try:
        return str(uuid.UUID(thread_id))
    except ValueError:
        raise ThreadRefused("Its id is no UUID.") from None
