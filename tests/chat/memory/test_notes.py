"""What a person asked to be kept: theirs alone, without secrets, found and erased."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from chat.memory import notes
from chat.memory.models import Memory
from chat.memory.notes import (
    MemoryFull,
    Notes,
    NoteTooLong,
    NothingToKeep,
    matching,
    remember,
)
from copilot_site.lib import secret_values
from projects.models import Project
from tests.chat.support import db


async def texts(user: User, query: str = "", project: Project | None = None) -> list:
    return [one.text for one in await Notes(user, project).recall(query)]


async def test_a_note_is_recalled_by_its_words(alice: User) -> None:
    mine = Notes(alice, None)
    await mine.remember("My favourite router is R1 in the Übungslabor.")
    await mine.remember("I prefer answers in German.")

    (found,) = await mine.recall("Which router do I like in the Uebungslabor?")

    note = await db(Memory.objects.get)(text__contains="router")
    assert (found.id, found.kind) == (f"memory:{note.pk}", "memory")
    assert found.text == "My favourite router is R1 in the Übungslabor."
    assert found.url == "/settings/memory/"
    assert await texts(alice, "quantum physics") == []


async def test_without_a_question_the_newest_come_first(alice: User) -> None:
    for text in ("first thing", "second thing", "third thing"):
        await Notes(alice, None).remember(text)

    assert await texts(alice) == ["third thing", "second thing", "first thing"]


def test_of_two_that_fit_the_newer_comes_first(alice: User) -> None:
    old, new = (remember(alice, f"The lab opens at {hour}") for hour in ("8", "9"))
    Memory.objects.filter(pk=new.pk).update(said_at=timezone.now() - timedelta(days=90))
    every = list(Memory.objects.all())

    assert [note.pk for note in matching(every, "When opens the lab?")] == [
        old.pk,
        new.pk,
    ]


async def test_nobody_elses_note_is_seen_or_erased(alice: User, bob: User) -> None:
    await Notes(alice, None).remember("The console password is on the yellow note.")

    assert await texts(bob) == await texts(bob, "yellow note") == []
    assert await Notes(bob, None).forget("yellow note") == 0
    assert len(await texts(alice)) == 1


async def test_a_note_for_a_project_is_known_there_alone(
    alice: User, lab: Project
) -> None:
    await Notes(alice, lab).remember("R1 is the border router.", only_here=True)
    await Notes(alice, lab).remember("I like short answers.")

    assert len(await texts(alice, project=lab)) == 2
    assert await texts(alice) == ["I like short answers."]


def test_the_same_note_is_kept_once(alice: User) -> None:
    first = remember(alice, "My room is B-204.")
    again = remember(alice, "my  room is b-204")
    other = remember(alice, "My room is B-205.")

    assert first.pk == again.pk != other.pk
    assert Memory.objects.count() == 2
    assert Memory.objects.get(pk=first.pk).text == "my  room is b-204"


def test_two_at_once_keep_it_once(alice: User) -> None:
    def keep(_: int) -> None:
        try:
            remember(alice, "Said twice at once.")
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(keep, range(8)))

    assert Memory.objects.count() == 1


@pytest.mark.parametrize(
    ("text", "error"),
    [("  \n", NothingToKeep), ("\x00", NothingToKeep), ("x" * 2001, NoteTooLong)],
)
def test_what_cannot_be_kept_is_told(
    alice: User, text: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        remember(alice, text)


def test_memory_has_an_end(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes, "MOST", 2)
    remember(alice, "one")
    remember(alice, "two")

    with pytest.raises(MemoryFull):
        remember(alice, "three")
    # What is there may be said again.
    remember(alice, "One!")


def test_secrets_are_masked_before_they_are_stored(alice: User) -> None:
    secret_values.remember("hunter2-of-the-tests")

    for text in (
        "My key is sk-abcdefghij0123456789",
        "It is hunter2-of-the-tests",
        "R1 has\nenable secret 5 $1$abcd$verysecrethash00000000",
    ):
        remember(alice, text)

    stored = " ".join(note.text for note in Memory.objects.all())
    for secret in ("abcdefghij", "hunter2", "verysecrethash"):
        assert secret not in stored


async def test_forgetting_takes_what_was_meant_and_nothing_else(alice: User) -> None:
    mine = Notes(alice, None)
    for text in ("My room is B-204", "My router is R1", "Answers in German, please"):
        await mine.remember(text)

    assert await mine.forget("router R1") == 1
    assert await mine.forget("router R1") == 0
    assert await mine.forget("everything") == 0
    assert len(await texts(alice)) == 2


def test_notes_go_with_the_user_and_with_the_project(
    alice: User, bob: User, lab: Project
) -> None:
    remember(alice, "everywhere")
    remember(alice, "there", lab)
    remember(bob, "of bob")

    lab.delete()
    assert set(Memory.objects.values_list("text", flat=True)) == {
        "everywhere",
        "of bob",
    }
    alice.delete()
    assert Memory.objects.get().user == bob


@pytest.fixture
def full(alice: User) -> Callable[[], list[Memory]]:
    for at in range(notes.MOST):
        text = f"Note {at} about room {at * 7} and router R{at}"
        Memory.objects.create(user=alice, text=text, digest=str(at))
    return lambda: list(Memory.objects.all())


def test_the_right_one_of_many_is_found(full: Callable[[], list[Memory]]) -> None:
    assert matching(full(), "router R77")[0].text.startswith("Note 77 ")
