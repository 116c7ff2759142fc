from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from chat.models import ChatSession, LLMCall
from projects.models import Project
from tests.chat.support import make_session

pytestmark = pytest.mark.database


def test_a_thread_id_exists_once(session: ChatSession, bob: User) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        make_session(bob, None, thread_id=session.thread_id)


def test_the_documented_indexes_exist(transactional_db: None) -> None:
    with connection.cursor() as cursor:
        found = connection.introspection.get_constraints(cursor, "chat_chatsession")

    assert found["idx_thread_id"]["unique"]
    assert found["idx_thread_id"]["columns"] == ["thread_id"]
    assert found["idx_user_project"]["columns"] == ["user_id", "project_id"]
    assert found["idx_pinned_updated"]["columns"] == ["pinned", "updated_at"]


def test_the_list_has_pinned_first_then_newest(alice: User, lab: Project) -> None:
    now = timezone.now()
    ages = {"old": 3, "older pinned": 9, "new": 1, "pinned": 5}
    for title, age in ages.items():
        make_session(
            alice,
            lab,
            title=title,
            pinned="pinned" in title,
            updated_at=now - timedelta(hours=age),
        )

    titles = [session.title for session in ChatSession.objects.listed()]

    assert titles == ["pinned", "older pinned", "new", "old"]


def test_sessions_of_the_same_second_keep_one_order(alice: User, lab: Project) -> None:
    now = timezone.now()
    made = [make_session(alice, lab, updated_at=now).pk for _ in range(5)]

    assert [session.pk for session in ChatSession.objects.listed()] == made[::-1]


def test_nobody_owns_what_alice_owns(session: ChatSession, bob: User) -> None:
    assert session in ChatSession.objects.owned_by(session.user)
    assert session not in ChatSession.objects.owned_by(bob)
    assert not ChatSession.objects.owned_by(AnonymousUser()).exists()


def test_a_persons_title_is_final(session: ChatSession) -> None:
    assert session.suggest_title("from the model")
    session.rename("mine")

    assert not session.suggest_title("from the model again")
    session.refresh_from_db()
    assert session.title == "mine"


def test_a_pin_does_not_make_a_session_newer(session: ChatSession) -> None:
    before = session.updated_at

    session.pin(pinned=True)

    session.refresh_from_db()
    assert session.pinned
    assert session.updated_at == before


def test_the_ledger_outlives_session_and_user(session: ChatSession) -> None:
    call = LLMCall.objects.create(
        session=session, user=session.user, username="alice", provider="p", model="m"
    )

    session.user.delete()

    call.refresh_from_db()
    assert (call.session, call.user, call.username) == (None, None, "alice")


@pytest.mark.parametrize(
    ("read", "written", "price"),
    [
        (1_000_000, 500_000, Decimal(6)),
        (1, 0, Decimal("0.000002")),
        (None, 5, None),
        (5, None, None),
    ],
)
def test_a_price_is_known_only_if_all_tokens_are(
    read: int | None, written: int | None, price: Decimal | None
) -> None:
    call = LLMCall(
        input_tokens=read,
        output_tokens=written,
        input_price=Decimal(2),
        output_price=Decimal(8),
    )

    assert call.price() == price
