"""Drafts of many runs in one transaction: each keeps its own lease."""

from django.contrib.auth.models import User

from chat.agent.drafts import save
from chat.agent.record import Draft
from chat.models import ChatSession, Message, Run
from chat.models.run import Status
from projects.models import Project
from tests.chat.support import claimed, make_run, make_session


def writing(session: ChatSession) -> Message:
    """The answer of a run that streams."""
    run = claimed(make_run(session))
    return Message.objects.create(
        session=session,
        run=run,
        round=run.round,
        sequence=2,
        role=Message.Role.ASSISTANT,
        is_partial=True,
    )


def draft(answer: Message, text: str, *, seq: int, attempt: int = 1) -> Draft:
    run = answer.run
    assert run is not None
    return Draft(run.pk, attempt, seq, {str(answer.pk): text})


def test_a_lost_lease_keeps_no_other_draft_from_being_saved(
    session: ChatSession, alice: User, lab: Project
) -> None:
    mine, taken = writing(session), writing(make_session(alice, lab))
    Run.objects.filter(messages=taken).update(attempt=2)

    lost = save([draft(mine, "So far", seq=7), draft(taken, "Void", seq=9)])

    assert lost == {taken.run_id}
    mine.refresh_from_db()
    taken.refresh_from_db()
    assert (mine.content, taken.content) == ("So far", "")
    seqs = Run.objects.order_by("pk").values_list("pk", "saved_seq")
    assert dict(seqs) == {mine.run_id: 7, taken.run_id: 0}


def test_a_late_draft_takes_nothing_back(session: ChatSession) -> None:
    answer = writing(session)
    Run.objects.filter(messages=answer).update(saved_seq=20)
    Message.objects.filter(pk=answer.pk).update(content="Whole.", is_partial=False)

    assert save([draft(answer, "Who", seq=7)]) == set()

    answer.refresh_from_db()
    assert answer.content == "Whole."
    assert Run.objects.get(messages=answer).saved_seq == 20


def test_a_run_that_has_ended_is_named_as_lost(session: ChatSession) -> None:
    answer = writing(session)
    Run.objects.filter(messages=answer).update(status=Status.STOPPED)

    assert save([draft(answer, "More", seq=7)]) == {answer.run_id}

    answer.refresh_from_db()
    assert answer.content == ""
