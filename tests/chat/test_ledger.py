"""The books agree, however runs end; what does not agree is found and set right."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db.models import Max
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat import ending
from chat.agent import titles
from chat.agent.record import end_llm_call
from chat.agent.translate import Answer
from chat.ending import end_run
from chat.ledger import Difference, differences, settle_lost_calls
from chat.models import ChatSession, LLMCall, Message, Run, ToolCall, Worker
from chat.models.run import EXECUTING, Status
from llmconfig.deltas import Usage
from projects.models import Project
from tests.chat.support import claimed, loaded, make_run, make_session, make_worker
from tests.conftest import Valkey

pytestmark = [pytest.mark.database, pytest.mark.needs("valkey")]

Tokens = tuple[int | None, int | None]


@pytest.fixture(autouse=True)
def _nobody_works(valkey: Valkey, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(ending, "publish", lambda run: True)
    return None  # type: ignore[return-value] # nothing to undo


def found(*, fix: bool = False) -> list[Difference]:
    return list(differences(fix=fix))


def usage(tokens: Tokens) -> Usage:
    read, written = tokens
    return Usage(read, written)


def call_of(run: Run, operation: LLMCall.Operation = LLMCall.Operation.CHAT) -> LLMCall:
    return LLMCall.objects.create(
        run=run, session=run.session, provider="x", model="m", operation=operation
    )


def say(run: Run, text: str, tokens: Tokens, *, tools: int = 0) -> None:
    """One model call with its answer, and the results of its tools."""
    call = call_of(run)
    # Results of tools have their places after the call that asked for them.
    last = run.messages.aggregate(last=Max("sequence"))["last"]
    place = last + run.tool_calls.count() + 1
    message = Message.objects.create(
        session=run.session,
        run=run,
        round=run.round,
        sequence=place,
        role=Message.Role.ASSISTANT,
        content=text,
    )
    for number in range(tools):
        ToolCall.objects.create(
            run=run,
            message=message,
            call_id=f"c{place}.{number}",
            position=number,
            name="read_topology",
            arguments="{}",
        )
    end_llm_call(call, LLMCall.Status.SUCCEEDED, usage(tokens))


def title(run: Run, call: LLMCall, tokens: Tokens) -> None:
    answer = Answer(usage=usage(tokens))
    titles._settle(run, call, LLMCall.Status.SUCCEEDED, answer, "")


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (Status.SUCCEEDED, {}),
        (Status.STOPPED, {"reason": "user"}),
        (Status.FAILED, {"error": "No.", "error_code": "x"}),
    ],
)
def test_the_books_agree_however_a_run_ends(
    session: ChatSession, status: Status, why: dict[str, str]
) -> None:
    run = claimed(make_run(session))
    say(run, "Let me see.", (100, 10), tools=2)
    say(run, "", (None, None))
    call_of(run)

    assert end_run(run, EXECUTING, status, last_seq=9, **why)

    assert found() == []
    session.refresh_from_db()
    assert (session.input_tokens, session.output_tokens) == (100, 10)
    assert session.llm_calls_count == 3
    # The question, the answer and two results; neither blanks nor errors.
    assert session.message_count == 4


def test_a_late_title_is_counted_once(session: ChatSession) -> None:
    run = claimed(make_run(session))
    late = call_of(run, LLMCall.Operation.TITLE)
    say(run, "Yes.", (50, 5))
    assert end_run(run, EXECUTING, Status.SUCCEEDED, last_seq=9)
    before = found()

    title(run, late, (20, 4))

    assert before == []
    assert found() == []
    session.refresh_from_db()
    assert (session.input_tokens, session.output_tokens) == (70, 9)


def test_a_run_that_was_taken_over_counts_its_lost_call(session: ChatSession) -> None:
    run = claimed(make_run(session), make_worker("dead"))
    say(run, "Before.", (10, 1))
    lost = call_of(run)
    Worker.objects.update(heartbeat_at=timezone.now() - timedelta(hours=1))
    assert run.take_over(make_worker("heir"), 4.0)
    LLMCall.objects.filter(pk=lost.pk).update(status=LLMCall.Status.LOST)
    say(run, "After.", (10, 1))

    assert end_run(run, EXECUTING, Status.SUCCEEDED, last_seq=9)

    assert found() == []
    session.refresh_from_db()
    assert (session.llm_calls_count, session.input_tokens) == (3, 20)


def test_a_run_in_progress_is_not_counted_yet(session: ChatSession) -> None:
    run = claimed(make_run(session))
    say(run, "So far.", (10, 1))

    assert found() == []


# --- Lost calls -----------------------------------------------------------------


def old_call(run: Run | None, minutes: float, **fields: Any) -> LLMCall:
    started = timezone.now() - timedelta(minutes=minutes)
    return LLMCall.objects.create(
        run=run, provider="x", model="m", started_at=started, **fields
    )


def ended(session: ChatSession, minutes: float) -> Run:
    moment = timezone.now() - timedelta(minutes=minutes)
    return make_run(session, status=Status.SUCCEEDED, finished_at=moment)


@pytest.mark.parametrize(("minutes", "settled"), [(11, 1), (9, 0)])
def test_calls_of_finished_runs_are_settled_after_ten_minutes(
    session: ChatSession, minutes: float, settled: int
) -> None:
    call = old_call(ended(session, minutes), minutes)

    assert settle_lost_calls() == settled

    call.refresh_from_db()
    expected = LLMCall.Status.LOST if settled else LLMCall.Status.STARTED
    assert call.status == expected
    assert (call.finished_at is not None) == bool(settled)


def test_calls_of_deleted_runs_are_settled_too(transactional_db: None) -> None:
    old_call(None, 11)

    assert settle_lost_calls() == 1


def test_calls_of_a_run_in_progress_are_left_alone(session: ChatSession) -> None:
    run = claimed(make_run(session))
    old_call(run, 60)
    old_call(ended(make_session(session.user, None), 60), 60, status="succeeded")

    assert settle_lost_calls() == 0
    assert not [difference for difference in found() if difference.field == "status"]


def test_a_call_of_a_dead_worker_is_found_and_marked(session: ChatSession) -> None:
    run = claimed(make_run(session))
    call = old_call(run, 5)
    Worker.objects.update(heartbeat_at=timezone.now() - timedelta(hours=1))

    (difference,) = found(fix=True)

    assert str(difference) == f"call {call.pk}: status is started, counted lost"
    call.refresh_from_db()
    assert call.status == LLMCall.Status.LOST
    assert found() == []


# --- The command ----------------------------------------------------------------


def finished(session: ChatSession) -> Run:
    run = claimed(make_run(session))
    say(run, "Yes.", (50, 5))
    assert end_run(run, EXECUTING, Status.SUCCEEDED, last_seq=9)
    return run


def run_command(*arguments: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("check_ledger", *arguments, stdout=out)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue()
    return 0, out.getvalue()


def test_the_command_is_content_with_books_that_agree(session: ChatSession) -> None:
    finished(session)

    assert run_command() == (0, "The ledger agrees.\n")


def test_the_command_finds_and_corrects(session: ChatSession) -> None:
    run = finished(session)
    Run.objects.update(input_tokens=999)
    ChatSession.objects.update(total_tokens=1, message_count=77)

    code, text = run_command()
    unchanged = Run.objects.get().input_tokens
    corrected = run_command("--fix")

    assert code == 1
    assert unchanged == 999
    assert f"run {run.pk}: input_tokens is 999, counted 50" in text
    assert f"session {session.thread_id}: total_tokens is 1, counted 55" in text
    assert f"session {session.thread_id}: message_count is 77, counted 2" in text
    assert (corrected[0], "3 differences corrected" in corrected[1]) == (1, True)
    assert run_command()[0] == 0


@pytest.mark.parametrize("metadata", [{}, {"imported_from": "gns3"}], ids=str)
def test_what_was_imported_only_adds(
    session: ChatSession, metadata: dict[str, str]
) -> None:
    make_run(
        session,
        status=Status.SUCCEEDED,
        message_count=1,
        llm_calls_count=9,
        input_tokens=1000,
    )
    finished(session)
    if not metadata:
        Run.objects.filter(round=1).delete()
        Message.objects.create(
            session=session, round=1, sequence=1, role="user", content="From elsewhere"
        )
    ChatSession.objects.update(
        message_count=3, input_tokens=1050, total_tokens=1055, metadata=metadata
    )

    assert found() == []


# --- Any sequence of runs -------------------------------------------------------

tokens = st.tuples(
    st.none() | st.integers(0, 10_000), st.none() | st.integers(0, 10_000)
)


@dataclass(frozen=True)
class Story:
    """What happens in one run."""

    answers: list[tuple[str, Tokens, int]]
    end: Status
    dangling: int
    title: str
    title_tokens: Tokens
    dies: bool


stories = st.builds(
    Story,
    answers=st.lists(
        st.tuples(st.sampled_from(["", "Text."]), tokens, st.integers(0, 3)),
        max_size=4,
    ),
    end=st.sampled_from([Status.SUCCEEDED, Status.FAILED, Status.STOPPED]),
    dangling=st.integers(0, 2),
    title=st.sampled_from(["none", "early", "late", "never"]),
    title_tokens=tokens,
    dies=st.booleans(),
)


def live(session: ChatSession, story: Story) -> None:
    run = claimed(make_run(session), make_worker())
    has_title = story.title != "none"
    titling = call_of(run, LLMCall.Operation.TITLE) if has_title else None
    for text, spent, tools in story.answers:
        say(run, text, spent, tools=tools)
    for _ in range(story.dangling):
        call_of(run)
    if story.dies:
        Worker.objects.update(heartbeat_at=timezone.now() - timedelta(hours=1))
        assert run.take_over(make_worker(), 4.0)
        say(run, "Anew.", (1, 1))
    if titling and story.title == "early":
        title(run, titling, story.title_tokens)
    why = {"error": "No.", "error_code": "x"} if story.end == Status.FAILED else {}
    assert end_run(loaded(run), EXECUTING, story.end, last_seq=1, **why)
    if titling and story.title == "late":
        title(run, titling, story.title_tokens)


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(plot=st.lists(stories, max_size=3), wrong=st.integers(1, 10_000))
def test_the_books_agree_after_any_sequence_of_runs(
    lab: Project, alice: User, plot: list[Story], wrong: int
) -> None:
    session = make_session(alice, lab)
    for story in plot:
        live(session, story)

    assert found() == []
    session.refresh_from_db()
    rows = LLMCall.objects.filter(session=session)
    spent = sum(row.input_tokens or 0 for row in rows)
    assert session.input_tokens == spent
    assert session.llm_calls_count == rows.count()
    assert session.total_tokens == session.input_tokens + session.output_tokens

    ChatSession.objects.filter(pk=session.pk).update(output_tokens=10**9 + wrong)
    assert [difference.field for difference in found(fix=True)] == ["output_tokens"]
    assert found() == []
    session.delete()
    LLMCall.objects.all().delete()
