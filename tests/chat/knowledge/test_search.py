"""What is asked is found, by words or by meaning, among what may be read."""

import asyncio

import numpy as np
import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.db import connection
from hypothesis import HealthCheck, given
from hypothesis import settings as example_settings
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from chat.agent.tools.kit import Kit
from chat.agent.tools.knowledge import SEARCH_DOCUMENTS
from chat.knowledge import embed, search_index, vectors
from chat.knowledge.embed import EmbeddingsUnavailable, LocalEmbedder
from chat.knowledge.ingest import add_document, delete_document, replace
from chat.knowledge.models import Collection
from chat.knowledge.search import fused, search
from chat.knowledge.service import knowledge_for, named
from chat.knowledge.tasks import ingest_waiting
from copilot_site.lib.orm import in_orm_thread
from projects.models import Membership, Project
from tests.chat.knowledge.conftest import Topics

pytestmark = pytest.mark.database

TEXTS = {
    "lab.md": "# Labs\n\nThe networking lab is in building C, room 204.",
    "food.md": "Die Mensa öffnet um elf Uhr. Freitags gibt es Fisch.",
    "plan.txt": "R1 uses 10.0.2.0/24 on GigabitEthernet0/1 towards R2.",
    "zh.txt": "图书馆周一到周五开放，晚上十点关门。",
}


@pytest.fixture
def filled(site: Collection) -> Collection:
    for name, text in TEXTS.items():
        assert add_document(site, name, text.encode()).state == "ready"
    return site


def names(question: str, collections: object = None) -> list[str]:
    rows = Collection.objects.all() if collections is None else collections
    hits = search(question, collections=rows)  # type: ignore[arg-type]
    return [hit.passage.document.name for hit in hits]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Where is the networking lab?", "lab.md"),
        ("NETWORKING LABS", "lab.md"),
        ("Wann öffnet die Mensa?", "food.md"),
        ("Which interface has 10.0.2.0/24?", "plan.txt"),
        ("gigabitethernet0/1", "plan.txt"),
        ("图书馆几点关门？", "zh.txt"),
        ("lab.md", "lab.md"),
    ],
)
def test_words_are_found_in_any_language(
    filled: Collection, question: str, name: str
) -> None:
    assert names(question)[0] == name


@pytest.mark.parametrize("question", ["", "  ", "?!", "submarine"])
def test_what_is_nowhere_is_not_found(filled: Collection, question: str) -> None:
    assert names(question) == []


def test_a_rare_word_counts_more_than_common_ones(site: Collection) -> None:
    for number in range(8):
        add_document(site, f"{number}.txt", f"lab room table {number}".encode())
    add_document(site, "rare.txt", b"The oscilloscope stands in the lab.")

    assert names("lab room oscilloscope")[0] == "rare.txt"


def test_meaning_is_found_without_a_common_word(
    topics: Topics, filled: Collection
) -> None:
    hits = search("canteen", collections=Collection.objects.all())

    assert hits[0].passage.document.name == "food.md"
    assert hits[0].coverage == 0.0
    assert hits[0].similarity is not None
    assert hits[0].similarity > 0.9


def test_postgresql_compares_vectors_itself(topics: Topics, filled: Collection) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("numpy does it")

    assert search_index.has_pgvector(connection)
    by_numpy = vectors._by_numpy(
        topics.question("canteen"), Collection.objects.all(), topics.name, 3
    )
    by_database = vectors._by_database(
        topics.question("canteen"), Collection.objects.all(), topics.name, 3
    )
    assert [pk for pk, _ in by_numpy][0] == [pk for pk, _ in by_database][0]


def test_vectors_in_memory_follow_every_change(
    topics: Topics, site: Collection
) -> None:
    document = add_document(site, "a.txt", b"mensa mensa")
    assert names("canteen") == ["a.txt"]

    replace(document, "b.txt", b"netzlabor")
    ingest_waiting()
    document.refresh_from_db()
    hits = search("practice room", collections=Collection.objects.all())
    assert [hit.passage.text for hit in hits] == ["netzlabor"]

    delete_document(document)
    assert names("practice room") == []


def test_vectors_of_another_model_are_not_compared(
    topics: Topics, filled: Collection
) -> None:
    topics.name = "another"

    assert names("canteen") == []


def test_vectors_of_another_length_are_not_compared(
    topics: Topics, filled: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An endpoint may serve another model under the old name."""
    assert names("canteen")
    longer = np.array([0.0, 0.6, 0.8], dtype=np.float32)
    monkeypatch.setattr(topics, "question", lambda text: longer)

    assert names("canteen") == []
    add_document(filled, "new.txt", b"canteen")
    assert names("canteen") == ["new.txt"]


@pytest.mark.parametrize(
    "question", ["😀😀", "lab " * 2_500, "lab \ud83d", '"lab* NEAR(']
)
def test_odd_questions_are_answered(
    topics: Topics,
    filled: Collection,
    question: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def answer(text: str) -> object:
        asked.append(text)
        return np.array([1.0, 0.0], dtype=np.float32)

    monkeypatch.setattr(topics, "question", answer)

    search(question, collections=Collection.objects.all())

    assert asked
    assert asked[0].encode()


def test_search_goes_by_words_when_embeddings_do_not_answer(
    topics: Topics, filled: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(text: str) -> None:
        raise EmbeddingsUnavailable("It does not answer.")

    monkeypatch.setattr(topics, "question", fail)

    assert names("networking lab")[0] == "lab.md"


def test_first_in_every_order_is_one() -> None:
    scores = fused([[7, 8], [7, 9]])

    assert scores[7] == pytest.approx(1.0)
    assert scores[8] == scores[9] < 0.5


def test_two_users_collections_never_mix(
    topics: Topics, hers: Collection, his: Collection, alice: User, bob: User
) -> None:
    add_document(hers, "hers.txt", b"mensa secret of alice")
    add_document(his, "his.txt", b"mensa secret of bob")

    for user, name in ((alice, "hers.txt"), (bob, "his.txt")):
        rows = Collection.objects.readable_by(user)
        assert names("secret mensa canteen", rows) == [name]
        assert names("secret", named(rows, ["Hers", "His", str(hers.pk)])) in (
            [name],
            [],
        )
    assert names("secret", Collection.objects.readable_by(AnonymousUser())) == []


def test_a_projects_documents_are_its_members(
    labs: Collection, lab: Project, alice: User, bob: User
) -> None:
    add_document(labs, "plan.txt", b"secret plan")

    assert names("secret", Collection.objects.readable_by(alice)) == ["plan.txt"]
    assert names("secret", Collection.objects.readable_by(bob)) == []

    Membership.objects.filter(user=alice).delete()
    assert names("secret", Collection.objects.readable_by(alice)) == []


def test_in_a_run_other_projects_are_left_out(
    labs: Collection, lab: Project, alice: User
) -> None:
    other = Project.objects.create(server=lab.server, project_id="x", name="Other")
    add_document(labs, "plan.txt", b"secret plan")

    rows = Collection.objects.readable_by(alice, project=other)
    assert names("secret", rows) == []
    rows = Collection.objects.readable_by(alice, project=lab)
    assert names("secret", rows) == ["plan.txt"]


def test_collections_can_be_named(
    site: Collection, hers: Collection, alice: User
) -> None:
    add_document(site, "site.txt", b"words")
    add_document(hers, "hers.txt", b"words")
    rows = Collection.objects.readable_by(alice)

    assert names("words", named(rows, ["Hers"])) == ["hers.txt"]
    assert names("words", named(rows, [str(site.pk)])) == ["site.txt"]
    assert names("words", named(rows, ["nowhere"])) == []


def test_a_search_takes_as_many_queries_for_many_documents(
    topics: Topics,
    filled: Collection,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    search("lab mensa", collections=Collection.objects.all())

    with django_assert_max_num_queries(3):
        search("lab mensa", collections=Collection.objects.all())


async def test_the_tool_returns_passages_that_can_be_cited(
    filled: Collection, alice: User
) -> None:
    kit = Kit(knowledge=knowledge_for(alice, None))

    evidence = await SEARCH_DOCUMENTS.call({"query": "networking lab"}, kit)

    [passage] = evidence.passages
    assert passage.title == "lab.md"
    assert passage.location == "Labs"
    assert "room 204" in passage.text
    assert passage.id.startswith("passage:")
    assert passage.coverage == 1.0
    assert evidence.value["passages"][0]["cite"] == passage.id


async def test_a_stranger_who_searches_by_a_tool_finds_nothing(
    hers: Collection, bob: User
) -> None:
    await in_orm_thread(add_document)(hers, "a.txt", b"secret")

    assert await knowledge_for(bob, None).search("secret") == []
    wanted = knowledge_for(bob, None, collections=[str(hers.pk), "Hers"])
    assert await wanted.search("secret") == []


async def test_many_search_at_once(filled: Collection, alice: User) -> None:
    port = knowledge_for(alice, None)

    answers = await asyncio.gather(*(port.search("networking lab") for _ in range(8)))

    assert all(found[0].title == "lab.md" for found in answers)


@example_settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    text=st.one_of(
        st.text(max_size=60),
        st.text(alphabet="\"'*()^:-+{}|&!<>\\%_ aANDORNEAR0.\n", max_size=40),
    )
)
def test_no_question_is_an_error(filled: Collection, text: str) -> None:
    search(text, collections=Collection.objects.all())


@pytest.mark.slow
def test_the_local_model_finds_meaning_across_languages(
    site: Collection, settings: Settings
) -> None:
    settings.EMBEDDINGS = "local"
    if not isinstance(embed.embedder(), LocalEmbedder):
        pytest.skip("no embeddings on this machine")
    for name, text in TEXTS.items():
        add_document(site, name, text.encode())

    assert names("When does the canteen open?")[0] == "food.md"
    assert names("Wo liegt der Raum für Netztechnik?")[0] == "lab.md"
    assert names("library opening hours")[0] == "zh.txt"
