"""Any words in any language, and nothing that is typed is a query language."""

import sqlite3

import pytest
from django.contrib.auth.models import User
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat.models import ChatSession, Message
from chat.search import matching
from projects.models import Project
from tests.chat.support import make_session

pytestmark = pytest.mark.database

SAID = {
    "routes": "R1 has no route to 10.0.2.0/24 on GigabitEthernet0/1.",
    "greek": "Der Größe nach: Straße, Übung, ΑΘΗΝΑ",
    "chinese": "为什么PC1无法到达PC2？检查路由器的配置。",
    "thai": "ทำไมไม่สามารถเข้าถึงเราเตอร์ได้",
    "signs": 'He typed: "foo AND NOT bar" -- 100% sure; C:\\temp',
}


def say(session: ChatSession, text: str) -> Message:
    place = session.messages.count() + 1
    return Message.objects.create(
        session=session, round=1, sequence=place, role="user", content=text
    )


@pytest.fixture
def sessions(alice: User, lab: Project) -> dict[str, ChatSession]:
    found = {}
    for title, text in SAID.items():
        found[title] = make_session(alice, lab, title=f"About {title}")
        say(found[title], text)
    return found


def search(text: str) -> set[str]:
    rows = matching(ChatSession.objects.all(), text)
    return {row.title.removeprefix("About ") for row in rows}


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("route", "routes"),
        ("ROU", "routes"),
        ("10.0.2", "routes"),
        ("10.0.2.0/24", "routes"),
        ("gigabitethernet0/1", "routes"),
        ("r1 gigab 10.0", "routes"),
        ("Straße", "greek"),
        ("größe", "greek"),
        ("路由器", "chinese"),
        ("无法", "chinese"),
        ("เราเตอร์", "thai"),
        ("foo not BAR", "signs"),
        ("100%", "signs"),
        ('"foo', "signs"),
        ("C:\\temp", "signs"),
    ],
)
def test_words_are_found(
    sessions: dict[str, ChatSession], text: str, title: str
) -> None:
    assert search(text) == {title}


@pytest.mark.parametrize(
    "text",
    ["igabit", "10.0.2.0/25", "route greek", "foo OR zzz", "NEAR(foo bar)", "f*r"],
)
def test_other_words_are_not_found(sessions: dict[str, ChatSession], text: str) -> None:
    assert search(text) == set()


def test_words_of_a_title_are_found_anywhere(sessions: dict[str, ChatSession]) -> None:
    assert search("eek bout") == {"greek"}
    assert search("about") == set(SAID)


def test_titles_are_found_in_either_case(alice: User, lab: Project) -> None:
    make_session(alice, lab, title="Über den Äther")

    assert search("über ÄTHER") == {"Über den Äther"}


def test_all_words_have_to_be_in_one_message(alice: User, lab: Project) -> None:
    session = make_session(alice, lab, title="Two")
    say(session, "alpha")
    say(session, "beta")

    assert search("alpha beta") == set()


def test_nothing_to_look_for_finds_all(sessions: dict[str, ChatSession]) -> None:
    assert search("  ") == set(SAID)


def test_only_the_given_sessions_are_searched(
    sessions: dict[str, ChatSession], bob: User
) -> None:
    rows = ChatSession.objects.owned_by(bob)

    assert list(matching(rows, "route")) == []


def test_the_index_follows_every_change(alice: User, lab: Project) -> None:
    session = make_session(alice, lab, title="Changing")
    message = say(session, "first words")
    assert search("first") == {"Changing"}

    message.content = "second thoughts"
    message.save()
    assert search("first") == set()
    assert search("second") == {"Changing"}

    Message.objects.filter(pk=message.pk).update(content="third time")
    assert search("second") == set()
    assert search("third") == {"Changing"}

    Message.objects.bulk_create(
        [
            Message(session=session, round=2, sequence=1, role="tool", content="bulky"),
            Message(session=session, round=2, sequence=2, role="tool", content="bulk"),
        ]
    )
    assert search("bulky") == {"Changing"}

    session.delete()
    assert search("third") == search("bulky") == set()


def test_the_index_of_sqlite_keeps_nothing_of_deleted_messages(
    sessions: dict[str, ChatSession],
) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL keeps its own indexes")

    ChatSession.objects.all().delete()

    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM chat_search_row")
        assert cursor.fetchone() == (0,)
        cursor.execute("SELECT count(*) FROM chat_search WHERE chat_search MATCH 'r1'")
        assert cursor.fetchone() == (0,)
        # Raises when index and deletions did not fit each other.
        cursor.execute("INSERT INTO chat_search(chat_search) VALUES ('optimize')")


def test_messages_are_found_after_their_rows_were_renumbered(
    sessions: dict[str, ChatSession],
) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("only SQLite numbers rows")
    sessions["signs"].delete()

    with sqlite3.connect(connection.settings_dict["NAME"]) as database:
        database.isolation_level = None
        database.execute("VACUUM")
    sessions["greek"].delete()

    assert search("route") == {"routes"}
    assert search("路由器") == {"chinese"}
    assert search("Straße") == set()


def test_a_very_long_text_can_be_stored(alice: User, lab: Project) -> None:
    session = make_session(alice, lab, title="Long")
    say(session, "start " + " ".join(f"w{number}é" for number in range(200_000)))

    assert search("start") == {"Long"}
    assert search("w77é") == {"Long"}


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    text=st.one_of(
        st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])),
        st.text(alphabet="\"'*()^:-+{}|&!<>\\%_ aANDORNEAR0.\n", max_size=40),
    )
)
def test_no_input_is_an_error(sessions: dict[str, ChatSession], text: str) -> None:
    search(text)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    words=st.lists(
        st.text(alphabet="abcxyzäöü0123456789", min_size=1, max_size=12),
        min_size=1,
        max_size=6,
    ),
    data=st.data(),
)
def test_the_beginning_of_any_word_is_found(
    alice: User, lab: Project, words: list[str], data: st.DataObject
) -> None:
    session = make_session(alice, lab, title="Any")
    say(session, " ".join(words))
    word = data.draw(st.sampled_from(words))
    length = data.draw(st.integers(1, len(word)))

    try:
        assert search(word[:length]) == {"Any"}
    finally:
        session.delete()
