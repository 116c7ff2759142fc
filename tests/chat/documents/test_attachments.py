"""Files of a conversation: whose it is has them, the agent reads them, nobody else."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from pytest_django.fixtures import Settings

from chat import runs
from chat.agent.tools.documents import LIST_DOCUMENTS, READ_DOCUMENT
from chat.agent.tools.kit import Kit
from chat.agent.window import window_of
from chat.deletion import delete_session
from chat.documents import wake
from chat.documents.attachments import attach, detach, link
from chat.documents.models import Attachment, File
from chat.documents.service import DocumentNotReady, SessionDocuments, documents_for
from chat.documents.tasks import read_attachments
from chat.models import ChatSession, Message, Run
from copilot_site.lib.errors import NotFound
from copilot_site.lib.orm import in_orm_thread
from projects.models import Membership, Project, Role
from tests.chat.api.conftest import bearer
from tests.chat.documents import samples
from tests.chat.support import make_session
from tests.conftest import LAB_ID

pytestmark = pytest.mark.database

NEW_ID = "99999999-9999-4999-8999-999999999999"
CONFIG = b"hostname R1\ninterface GigabitEthernet0/1\n ip address 10.0.2.1 255.0.0.0\n"


@pytest.fixture(autouse=True)
def data_dir(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(wake, "_submit", lambda task: None)
    return tmp_path


@pytest.fixture
def client(alice: User) -> Client:
    return Client(enforce_csrf_checks=True, headers=bearer(alice))


@pytest.fixture
def stranger(bob: User) -> Client:
    return Client(enforce_csrf_checks=True, headers=bearer(bob))


@pytest.fixture
def attached(session: ChatSession, alice: User) -> Attachment:
    attachment, _ = attach(session, "r1.cfg", CONFIG, user=alice)
    read_attachments()
    attachment.refresh_from_db()
    return attachment


def documents_of(session_id: str, project: str = LAB_ID) -> str:
    return f"/v3/projects/{project}/chat/sessions/{session_id}/documents"


def file(name: str = "a.txt", data: bytes = b"some words") -> dict[str, Any]:
    return {"file": SimpleUploadedFile(name, data)}


def files(folder: Path) -> list[Path]:
    return [path for path in (folder / "documents").rglob("*") if path.is_file()]


def test_a_file_is_attached_read_and_removed(
    client: Client, session: ChatSession, data_dir: Path
) -> None:
    path = documents_of(session.thread_id)

    made = client.post(path, file("../Plan 网.txt", b"words of a plan"))
    assert (made.status_code, made.json()["name"]) == (201, "Plan 网.txt")
    assert client.post(path, file("b.txt", b"words of a plan")).status_code == 200
    read_attachments()

    [row] = client.get(path).json()
    assert (row["state"], row["characters"], row["round"]) == ("ready", 15, None)
    one = f"{path}/{row['id']}"
    assert client.get(one).json() == row
    content = client.get(f"{one}/content")
    assert content.content == b"words of a plan"
    assert content["Content-Disposition"].startswith("attachment;")
    assert client.delete(one).status_code == 204
    assert client.get(path).json() == files(data_dir) == []


def test_the_first_thing_in_a_conversation_may_be_a_file(
    client: Client, lab: Project, alice: User
) -> None:
    assert client.post(documents_of(NEW_ID), file()).status_code == 201

    session = ChatSession.objects.get(thread_id=NEW_ID)
    assert (session.user, session.project) == (alice, lab)
    assert client.post(documents_of("x"), file()).status_code == 422


ADDRESSES = [("GET", ""), ("POST", ""), ("GET", "/{}"), ("DELETE", "/{}")]
ADDRESSES += [("GET", "/{}/content")]


@pytest.mark.parametrize(("method", "rest"), ADDRESSES)
@pytest.mark.parametrize("role", [None, Role.OWNER])
def test_nobody_else_sees_a_file_of_a_conversation(
    stranger: Client,
    bob: User,
    lab: Project,
    attached: Attachment,
    role: Role | None,
    method: str,
    rest: str,
) -> None:
    if role:
        Membership.objects.create(project=lab, user=bob, role=role)
    path = documents_of(attached.session.thread_id) + rest.format(attached.pk)
    body = encode_multipart(BOUNDARY, file())

    for client, status in ((stranger, 404), (Client(), 401)):
        response = client.generic(method, path, body, content_type=MULTIPART_CONTENT)
        assert response.status_code == status
    assert Attachment.objects.get() == attached


def test_another_conversation_of_mine_does_not_have_it(
    client: Client, attached: Attachment, lab: Project, alice: User
) -> None:
    other = make_session(alice, lab)

    path = f"{documents_of(other.thread_id)}/{attached.pk}"
    assert client.get(f"{path}/content").status_code == 404
    assert client.get(f"{documents_of(other.thread_id)}/x").status_code == 404


def test_a_viewer_attaches_nothing(
    stranger: Client, bob: User, lab: Project, data_dir: Path
) -> None:
    Membership.objects.create(project=lab, user=bob, role=Role.VIEWER)

    assert stranger.post(documents_of(NEW_ID), file()).status_code == 403
    assert files(data_dir) == []


def test_a_conversation_has_so_many_files_and_no_more(
    client: Client, session: ChatSession, settings: Settings
) -> None:
    settings.SESSION_DOCUMENTS = 1
    path = documents_of(session.thread_id)
    client.post(path, file("a.txt", b"one"))

    refused = client.post(path, file("b.txt", b"two"))

    assert (refused.status_code, refused.json()["code"]) == (409, "too_many_documents")
    assert File.objects.count() == 1


def test_what_waits_comes_with_the_next_message(
    session: ChatSession,
    attached: Attachment,
    alice: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runs, "publish", lambda run: True)
    monkeypatch.setattr(runs, "announce_start", lambda run: None)

    started = runs.start_run(
        user=alice,
        project=session.project,
        message="What is on Gi0/1?",
        session_id=session.thread_id,
    )

    attached.refresh_from_db()
    message = Message.objects.get()
    assert (attached.message, attached.round) == (message, started.run.round)
    [told] = message.metadata["documents"]
    assert (told["id"], told["name"]) == (str(attached.pk), "r1.cfg")
    [question] = window_of(started.run)
    assert question.content == "What is on Gi0/1?\n\n[Attached: r1.cfg (config)]"


def test_only_the_named_files_come_with_a_message(
    run: Run, attached: Attachment, alice: User
) -> None:
    other, _ = attach(run.session, "b.txt", b"other", user=alice)
    message = run.messages.get()

    assert link(message, [other.pk]) == 1

    attached.refresh_from_db()
    assert attached.message is None
    with pytest.raises(NotFound):
        link(message, [attached.pk, run.pk])


def test_a_removed_file_is_gone_from_its_message(
    run: Run, attached: Attachment
) -> None:
    message = run.messages.get()
    link(message, None)

    detach(Attachment.objects.select_related("message").get())

    message.refresh_from_db()
    assert message.metadata["documents"] == []


def test_files_go_with_their_conversation(
    session: ChatSession, attached: Attachment, data_dir: Path
) -> None:
    assert len(files(data_dir)) == 1

    delete_session(session)

    assert files(data_dir) == []
    assert not File.objects.exists()


async def test_the_agent_lists_and_reads_them_in_parts(attached: Attachment) -> None:
    kit = Kit(documents=SessionDocuments(attached.session_id))

    [listed] = (await LIST_DOCUMENTS.call({}, kit))["documents"]
    assert (listed["name"], listed["state"]) == ("r1.cfg", "ready")
    part = await READ_DOCUMENT.call(
        {"document": "R1.CFG", "start": 12, "length": 9}, kit
    )
    assert part.value["text"] == "interface"
    assert part.value["next"] == 21
    [passage] = part.passages
    assert (passage.title, passage.text) == ("r1.cfg", "interface")
    assert passage.location == "characters 12–21"
    again = await READ_DOCUMENT.call(
        {"document": str(attached.pk), "start": 12, "length": 9}, kit
    )
    assert again.passages[0].id == passage.id
    last = await READ_DOCUMENT.call({"document": "r1", "start": 12}, kit)
    assert "next" not in last.value
    with pytest.raises(NotFound, match=r"Attached: “r1.cfg”"):
        await READ_DOCUMENT.call({"document": "other.txt"}, kit)


async def test_the_agent_is_told_why_a_file_cannot_be_read(
    session: ChatSession, alice: User
) -> None:
    port = SessionDocuments(session.pk)
    add = in_orm_thread(attach)
    await add(session, "a.pdf", samples.pdf("words"), user=alice)
    with pytest.raises(DocumentNotReady, match="still being read"):
        await port.read("a.pdf")

    await add(session, "b.pdf", b"%PDF-1.7 damaged", user=alice)
    await add(session, "c.png", samples.PNG, user=alice)
    await in_orm_thread(read_attachments)()

    assert (await port.read("a.pdf")).passages[0].location == "p. 1"
    with pytest.raises(DocumentNotReady, match="The PDF is damaged"):
        await port.read("b.pdf")
    with pytest.raises(NotFound, match="a picture"):
        await port.read("c.png")


def test_the_tools_are_offered_where_something_is_attached(
    session: ChatSession, alice: User
) -> None:
    assert documents_for(session) is None

    attach(session, "a.txt", b"words", user=alice)

    assert documents_for(session) is not None
