"""GNS3's users: known by their server's token alone, and only there."""

import json
import logging
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.test import Client

from chat import ending, runs
from chat.agent.person import person_of
from chat.models import ChatSession, Run
from chat.models.run import Status
from chat.stopping import stop_run
from copilot_site.bearer import Place, identity_of_token
from copilot_site.identity import Identity, NotAuthenticated
from projects import identity as identities
from projects.gns3.errors import Gns3LoginExpired, Gns3Unreachable
from projects.models import Gns3Identity, Membership, Project, Role, Server
from tests.chat.support import db
from tests.conftest import LAB_ID, OTHER_LAB_ID, Valkey
from tests.fakes.gns3 import FakeGns3

pytestmark = pytest.mark.database

HOUR = 3600


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    caches["local"].clear()
    yield
    caches["local"].clear()


@pytest.fixture
def gns3() -> Iterator[FakeGns3]:
    """Two users; carol's is the project, dave's is none."""
    with FakeGns3() as fake:
        fake.add_user("carol")
        fake.add_user("dave")
        fake.add_project(LAB_ID)
        fake.share(LAB_ID, "carol")
        yield fake


@pytest.fixture
def server(gns3: FakeGns3, transactional_db: None) -> Server:
    return Server.objects.create(name="real", url=gns3.url)


@pytest.fixture
def lab(server: Server) -> Project:
    return Project.objects.create(
        server=server, project_id=LAB_ID, name="Campus", status="opened"
    )


@pytest.fixture
def per_user(server: Server) -> Server:
    """GNS3 decides; there is no service account at all."""
    server.access = Server.Access.PER_USER
    server.save()
    return server


def token_of(gns3: FakeGns3, username: str, life: float = HOUR) -> str:
    return gns3.token(username, exp=int(time.time() + life))


def client_of(token: str, **headers: str) -> Client:
    return Client(headers={"Authorization": f"Bearer {token}", **headers})


def known(token: str, place: Place | None = None) -> Identity:
    return identity_of_token(token, place)


# --- Who ------------------------------------------------------------------------


def test_a_user_is_made_on_first_sight(gns3: FakeGns3, server: Server) -> None:
    first = known(token_of(gns3, "carol"))
    again = known(token_of(gns3, "carol", life=2 * HOUR))

    assert first.user == again.user
    user = User.objects.get()
    account = gns3.users["carol"]
    assert user.username == f"gns3:{server.pk}:{account.user_id}"
    assert user.get_full_name() == "carol"
    assert not user.has_usable_password()
    assert not user.is_staff


def test_a_local_user_of_that_name_is_somebody_else(
    gns3: FakeGns3, server: Server
) -> None:
    mine = User.objects.create_superuser("carol", password="a-password-of-mine")

    identity = known(token_of(gns3, "carol"))

    assert identity.user != mine
    assert not identity.user.is_superuser


def test_a_local_user_with_the_made_up_name_is_not_taken_over(
    gns3: FakeGns3, server: Server
) -> None:
    name = f"gns3:{server.pk}:{gns3.users['carol'].user_id}"
    User.objects.create_user(name)

    with pytest.raises(NotAuthenticated):
        known(token_of(gns3, "carol"))

    assert not Gns3Identity.objects.exists()


def test_nobody_comes_from_gns3_as_staff(gns3: FakeGns3, server: Server) -> None:
    known(token_of(gns3, "carol"))
    User.objects.update(is_staff=True, is_superuser=True)

    user = known(token_of(gns3, "carol")).user

    assert (user.is_staff, user.is_superuser) == (False, False)


def test_the_same_id_on_two_servers_is_two_people(
    gns3: FakeGns3, server: Server
) -> None:
    with FakeGns3() as other:
        other.add_user("carol", gns3.users["carol"].user_id)
        Server.objects.create(name="other", url=other.url)

        here = known(token_of(gns3, "carol"), Place("real"))
        there = known(token_of(other, "carol"), Place("other"))

    assert here.user != there.user


def test_at_once_seen_for_the_first_time_is_one_user(
    gns3: FakeGns3, server: Server
) -> None:
    found: list[int] = []

    def see() -> None:
        from django.db import connections

        found.append(known(token_of(gns3, "carol")).user.pk)
        connections.close_all()

    threads = [threading.Thread(target=see) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(found)) == 1
    assert len(found) == 3


# --- Which tokens ------------------------------------------------------------------


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": 1},
        {"exp": 0},
        {},
        {"exp": None},
        {"exp": "tomorrow"},
        {"exp": True},
    ],
    ids=str,
)
def test_a_token_without_a_future_is_refused_though_gns3_takes_it(
    gns3: FakeGns3, server: Server, claims: dict[str, Any]
) -> None:
    import jwt

    from tests.fakes.gns3 import KEY

    raw = jwt.api_jws.encode(
        json.dumps({"sub": "carol", **claims}).encode(), KEY, algorithm="HS256"
    )

    with pytest.raises(NotAuthenticated, match=r"expir"):
        known(raw)
    assert gns3.seen == []


def test_a_forged_token_is_refused_and_not_asked_about_again(
    gns3: FakeGns3, server: Server
) -> None:
    forged = token_of(gns3, "carol")[:-4] + "AAAA"

    for _ in range(3):
        with pytest.raises(NotAuthenticated):
            known(forged)

    assert gns3.asked("/v3/access/users/me") == 1


def test_a_known_token_is_asked_about_once_a_minute(
    gns3: FakeGns3, server: Server
) -> None:
    token = token_of(gns3, "carol")

    for _ in range(5):
        known(token)

    assert gns3.asked("/v3/access/users/me") == 1


def test_no_cache_key_or_value_holds_the_token(gns3: FakeGns3, server: Server) -> None:
    token = token_of(gns3, "carol")
    known(token)

    cache = caches["local"]
    kept = str(cache._cache)  # type: ignore[attr-defined] # what it holds

    assert token not in kept
    assert token.rpartition(".")[2] not in kept
    assert kept != "{}"


def test_an_identity_expires_with_its_token(gns3: FakeGns3, server: Server) -> None:
    identity = known(token_of(gns3, "carol"))

    assert identity.is_still_valid()
    late = Identity(identity.user, expires_at=identity.expires_at and _past())
    assert not late.is_still_valid()


def _past() -> Any:
    from datetime import UTC, datetime

    return datetime(2020, 1, 1, tzinfo=UTC)


def test_an_identity_ends_when_gns3_refuses_it(gns3: FakeGns3, server: Server) -> None:
    identity = known(token_of(gns3, "carol"))
    gns3.users["carol"].is_active = False
    caches["local"].clear()

    assert not identity.is_still_valid()


def test_a_server_out_of_reach_ends_no_identity(gns3: FakeGns3, server: Server) -> None:
    identity = known(token_of(gns3, "carol"))
    gns3.status = 503
    caches["local"].clear()

    assert identity.is_still_valid()


def test_a_server_out_of_reach_is_said_clearly_and_soon(
    server: Server, gns3: FakeGns3
) -> None:
    token = token_of(gns3, "carol")
    Server.objects.update(url="http://127.0.0.1:9")

    response = client_of(token).get("/v3/me")

    assert response.status_code == 502
    assert response.json()["code"] == "gns3_unreachable"
    with pytest.raises(Gns3Unreachable):
        known(token_of(gns3, "dave"))


def test_only_so_many_wait_for_a_server(
    gns3: FakeGns3, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(identities._asking, server.pk, 4)

    with pytest.raises(identities.Gns3Busy):
        known(token_of(gns3, "carol"))


# --- Where ---------------------------------------------------------------------------


def test_a_token_goes_to_the_server_of_its_project(
    gns3: FakeGns3, lab: Project
) -> None:
    with FakeGns3() as other:
        Server.objects.create(name="other", url=other.url)

        known(token_of(gns3, "carol"), Place.of(f"/v3/projects/{LAB_ID}/chat/stream"))

        assert other.seen == []


def test_a_token_of_no_told_server_goes_nowhere(gns3: FakeGns3, server: Server) -> None:
    with FakeGns3() as other:
        Server.objects.create(name="other", url=other.url)

        with pytest.raises(NotAuthenticated, match="X-GNS3-Server"):
            known(token_of(gns3, "carol"))

        assert (gns3.seen, other.seen) == ([], [])


def test_a_project_id_on_two_servers_needs_the_header(
    gns3: FakeGns3, lab: Project
) -> None:
    with FakeGns3() as other:
        second = Server.objects.create(name="other", url=other.url)
        Project.objects.create(server=second, project_id=LAB_ID, name="Twin")
        Membership.objects.all().delete()
        path = f"/v3/projects/{LAB_ID}"
        token = token_of(gns3, "carol")

        without = client_of(token).get(path)
        Server.objects.update(default_role=Role.MEMBER)
        named = client_of(token, **{"X-GNS3-Server": "real"}).get(path)

    assert without.status_code == 401
    assert named.status_code == 200
    assert named.json()["server"]["name"] == "real"


def test_a_token_opens_no_project_of_another_server(
    gns3: FakeGns3, lab: Project
) -> None:
    other = Server.objects.create(
        name="other", url="http://127.0.0.1:9", default_role=Role.OWNER
    )
    Project.objects.create(server=other, project_id=OTHER_LAB_ID, name="Theirs")
    client = client_of(token_of(gns3, "carol"), **{"X-GNS3-Server": "real"})

    response = client.get(f"/v3/projects/{OTHER_LAB_ID}/chat/sessions")

    assert response.status_code == 404


# --- What: our roles ------------------------------------------------------------------


def test_with_a_service_account_our_roles_decide(gns3: FakeGns3, lab: Project) -> None:
    client = client_of(token_of(gns3, "dave"))
    path = f"/v3/projects/{LAB_ID}/chat/sessions"

    before = client.get(path)
    user = Gns3Identity.objects.get().user
    Membership.objects.create(project=lab, user=user, role=Role.VIEWER)
    after = client.get(path)

    assert (before.status_code, after.status_code) == (404, 200)


def test_with_a_service_account_a_run_gets_no_token(
    gns3: FakeGns3, lab: Project, published: list[str]
) -> None:
    known(token_of(gns3, "carol"))
    user = Gns3Identity.objects.get().user
    Membership.objects.create(project=lab, user=user, role=Role.MEMBER)

    run = ask(token_of(gns3, "carol"))

    assert run.secrets == ""


# --- What: GNS3 decides --------------------------------------------------------------


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch, valkey: Valkey) -> list[str]:
    ids: list[str] = []

    def publish(run: Run) -> bool:
        ids.append(str(run.pk))
        return True

    monkeypatch.setattr(runs, "publish", publish)
    monkeypatch.setattr(ending, "publish", publish)
    return ids


def ask(token: str) -> Run:
    response = client_of(token, Prefer="respond-async").post(
        f"/v3/projects/{LAB_ID}/chat/stream",
        json.dumps({"message": "Why?"}),
        content_type="application/json",
    )
    assert response.status_code == 202, response.content
    return Run.objects.get(pk=response.json()["run_id"])


def test_gns3_shows_the_project_to_one_and_not_to_the_other(
    gns3: FakeGns3, per_user: Server, lab: Project
) -> None:
    path = f"/v3/projects/{LAB_ID}/chat/sessions"

    carol = client_of(token_of(gns3, "carol")).get(path)
    dave = client_of(token_of(gns3, "dave")).get(path)

    assert (carol.status_code, dave.status_code) == (200, 404)


def test_our_roles_open_nothing_where_gns3_decides(
    gns3: FakeGns3, per_user: Server, lab: Project, alice: User
) -> None:
    Server.objects.update(default_role=Role.OWNER)
    Membership.objects.create(project=lab, user=alice, role=Role.OWNER)
    client = Client()
    client.force_login(alice)

    dave = client_of(token_of(gns3, "dave")).get(f"/v3/projects/{LAB_ID}")

    assert dave.status_code == 404
    assert client.get(f"/v3/projects/{LAB_ID}/chat/sessions").status_code == 404
    assert Project.objects.visible_to(alice).count() == 0


def test_a_project_that_only_its_user_sees_is_found_and_listed(
    gns3: FakeGns3, per_user: Server
) -> None:
    client = client_of(token_of(gns3, "carol"))

    before = client.get("/v3/projects")
    found = client.get(f"/v3/projects/{LAB_ID}")
    after = client.get("/v3/projects")

    assert before.json() == []
    assert (found.json()["name"], found.json()["role"]) == ("Campus", "engineer")
    assert [project["project_id"] for project in after.json()] == [LAB_ID]


def test_who_may_use_no_consoles_in_gns3_only_looks_on(
    gns3: FakeGns3, per_user: Server, lab: Project
) -> None:
    gns3.share(LAB_ID, "dave", consoles=False)
    client = client_of(token_of(gns3, "dave"))

    shown = client.get(f"/v3/projects/{LAB_ID}")
    asked = client.post(
        f"/v3/projects/{LAB_ID}/chat/stream",
        json.dumps({"message": "Why?"}),
        content_type="application/json",
    )

    assert shown.json()["role"] == "viewer"
    assert asked.status_code == 403


def test_a_right_taken_away_in_gns3_is_gone_here_in_seconds(
    gns3: FakeGns3, per_user: Server, lab: Project
) -> None:
    client = client_of(token_of(gns3, "carol"))
    path = f"/v3/projects/{LAB_ID}/chat/sessions"
    assert client.get(path).status_code == 200

    del gns3.shared["carol", LAB_ID]
    caches["local"].clear()

    assert client.get(path).status_code == 404


def test_a_run_carries_the_token_encrypted_until_its_end(
    gns3: FakeGns3, per_user: Server, lab: Project, published: list[str]
) -> None:
    token = token_of(gns3, "carol")

    run = ask(token)
    person = person_of(run)
    raw = _stored(run)
    stop_run(run)
    run.refresh_from_db()

    assert (person.may_change, person.gns3_token) == (True, token)
    assert token.encode() not in raw
    assert raw
    assert run.secrets == ""
    assert _stored(run) == b""


def _stored(run: Run) -> bytes:
    from django.db import connection

    with connection.cursor() as cursor:
        key = run.pk.hex if connection.vendor == "sqlite" else str(run.pk)
        cursor.execute("SELECT secrets FROM chat_run WHERE id = %s", [key])
        (value,) = cursor.fetchone()
    return bytes(value)


def test_a_run_without_its_token_says_what_to_do(
    per_user: Server, lab: Project, alice: User
) -> None:
    session = ChatSession.objects.create(user=alice, project=lab)
    run = Run.objects.create(session=session, round=1, status=Status.QUEUED)

    with pytest.raises(Gns3LoginExpired, match="your GNS3 login"):
        person_of(run)


async def test_a_token_that_ends_in_mid_run_gives_a_clear_message(
    gns3: FakeGns3, server: Server
) -> None:
    from projects.connections import client_for

    old, refused = token_of(gns3, "carol", life=-1), token_of(gns3, "carol")
    gns3.refused.add(refused)

    for token in (old, refused):
        with pytest.raises(Gns3LoginExpired, match="Log in to GNS3 again") as caught:
            await client_for(server, token=token).project(LAB_ID)
        assert token not in str(caught.value)


async def test_the_token_stands_in_no_log(
    gns3: FakeGns3,
    per_user: Server,
    lab: Project,
    published: list[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    token = token_of(gns3, "carol")

    run = await db(ask)(token)
    gns3.status = 500
    caches["local"].clear()
    await db(client_of(token).get)(f"/v3/projects/{LAB_ID}")

    assert token not in caplog.text
    assert token not in repr(await db(identity_of_repr)(token))
    assert token not in repr(await db(person_of)(await db(_loaded)(run)))


def identity_of_repr(token: str) -> object:
    caches["local"].clear()
    try:
        return known(token)
    except Exception as error:
        return error


def _loaded(run: Run) -> Run:
    return Run.objects.select_related("session__project__server").get(pk=run.pk)


# --- Making and deleting -----------------------------------------------------------


def test_a_project_is_made_where_gns3_allows_it(
    gns3: FakeGns3, per_user: Server
) -> None:
    response = client_of(token_of(gns3, "carol")).post(
        "/v3/projects", '{"name": "Mine"}', content_type="application/json"
    )

    assert response.status_code == 201
    assert response.json()["role"] == "engineer"
    assert not Membership.objects.exists()


def test_a_project_is_deleted_in_the_persons_own_name(
    gns3: FakeGns3, per_user: Server, lab: Project
) -> None:
    dave = client_of(token_of(gns3, "dave")).delete(f"/v3/projects/{LAB_ID}")
    carol = client_of(token_of(gns3, "carol")).delete(f"/v3/projects/{LAB_ID}")

    assert (dave.status_code, carol.status_code) == (404, 204)
    assert gns3.projects == {}
    lab.refresh_from_db()
    assert lab.deleted_at is not None
    assert lab.deleted_by.startswith("gns3:")
