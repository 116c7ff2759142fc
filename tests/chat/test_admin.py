"""Operators see sums, not content; what they press calls the same verbs as the API."""

import csv
import io
from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from accounts.models import Look
from chat.models import (
    Approval,
    ChatSession,
    Feedback,
    LLMCall,
    Message,
    Run,
    ToolCall,
    Worker,
)
from chat.models.run import Status
from projects.models import Project, Server

pytestmark = pytest.mark.django_db

TEXT = "the-words-of-a-person"
OUTPUT = "what-a-device-said"
MODELS = [
    "chatsession",
    "run",
    "message",
    "toolcall",
    "approval",
    "feedback",
    "llmcall",
    "worker",
]


@pytest.fixture
def alice() -> User:
    return User.objects.create_user("alice", password="a")


@pytest.fixture
def project() -> Project:
    server = Server.objects.create(name="Lab", url="http://127.0.0.1:1")
    return Project.objects.create(
        server=server,
        project_id="11111111-1111-4111-8111-111111111111",
        name="Campus",
        status=Project.Status.OPENED,
    )


def conversation(
    user: User, project: Project, number: int = 1, status: str = Status.SUCCEEDED
) -> ChatSession:
    """A session with one round: a question, a call with its result, a ledger row."""
    session = ChatSession.objects.create(
        user=user, project=project, title=f"Question {number}", message_count=3
    )
    run = Run.objects.create(session=session, round=1, status=status)
    asked, answered, said = (
        Message.objects.create(
            session=session,
            run=run,
            round=1,
            sequence=sequence,
            role=role,
            content=content,
        )
        for sequence, (role, content) in enumerate(
            [("user", TEXT), ("assistant", ""), ("tool", OUTPUT)], start=1
        )
    )
    call = ToolCall.objects.create(
        run=run,
        message=answered,
        result=said,
        call_id="call_1",
        name="run_commands",
        arguments=f'{{"text": "{TEXT}"}}',
        status=ToolCall.Status.SUCCEEDED,
    )
    Approval.objects.create(run=run, tool_call=call, reason=TEXT)
    Feedback.objects.create(message=answered, value="down", comment=TEXT)
    Worker.objects.create(hostname="host", pid=number)
    ledger_row(user, run=run, session=session)
    return session


def ledger_row(user: User, **fields: object) -> LLMCall:
    values: dict[str, object] = {
        "user": user,
        "username": user.username,
        "project_name": "Campus",
        "provider": "openai",
        "model": "small",
        "status": LLMCall.Status.SUCCEEDED,
        "input_tokens": 100,
        "output_tokens": 20,
        "total_tokens": 120,
        "cost": Decimal("0.5"),
        **fields,
    }
    return LLMCall.objects.create(**values)


def operator(*permissions: str) -> Client:
    user = User.objects.create_user("operator", password="o", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client


def listed(model: str) -> str:
    return reverse(f"admin:chat_{model}_changelist")


def shown(row: object) -> str:
    meta = row._meta  # type: ignore[attr-defined]
    name = f"admin:{meta.app_label}_{meta.model_name}_change"
    return reverse(name, args=[row.pk])  # type: ignore[attr-defined]


def press(client: Client, model: str, action: str, *rows: object) -> object:
    keys = [row.pk for row in rows]  # type: ignore[attr-defined]
    data = {"action": action, "_selected_action": keys}
    return client.post(listed(model), data)


@pytest.mark.parametrize("model", MODELS)
def test_anonymous_is_sent_to_the_login(client: Client, model: str) -> None:
    answer = client.get(listed(model))

    assert answer.status_code == 302
    assert "/admin/login/" in answer["Location"]


@pytest.mark.parametrize("model", MODELS)
def test_a_user_who_is_no_operator_is_refused(
    client: Client, alice: User, model: str
) -> None:
    client.force_login(alice)

    answer = client.get(listed(model))

    assert answer.status_code == 302
    assert "/admin/login/" in answer["Location"]


@pytest.mark.parametrize("model", MODELS)
def test_an_operator_without_the_permission_is_refused(model: str) -> None:
    assert operator().get(listed(model)).status_code == 403


@pytest.mark.parametrize("model", MODELS)
def test_a_list_asks_as_many_queries_for_thirty_rows_as_for_one(
    admin_client: Client,
    alice: User,
    project: Project,
    model: str,
) -> None:

    conversation(alice, project)
    admin_client.get(listed(model))
    with CaptureQueriesContext(connection) as few:
        admin_client.get(listed(model))
    for number in range(2, 31):
        conversation(alice, project, number)

    with CaptureQueriesContext(connection) as many:
        answer = admin_client.get(listed(model))

    assert answer.status_code == 200
    assert len(many) == len(few)
    assert len(many) <= 14


def test_a_session_page_asks_as_many_queries_for_thirty_rounds_as_for_one(
    admin_client: Client, alice: User, project: Project
) -> None:

    session = conversation(alice, project)
    admin_client.get(shown(session))
    with CaptureQueriesContext(connection) as few:
        admin_client.get(shown(session))
    for number in range(2, 31):
        run = Run.objects.create(session=session, round=number, status="succeeded")
        Message.objects.create(
            session=session, run=run, round=number, sequence=1, role="user"
        )

    with CaptureQueriesContext(connection) as many:
        admin_client.get(shown(session))

    assert len(many) == len(few)


@pytest.mark.parametrize("model", ["run", "message", "toolcall", "approval", "llmcall"])
def test_records_are_for_reading_only(
    admin_client: Client, alice: User, project: Project, model: str
) -> None:
    session = conversation(alice, project)
    run = session.runs.get()
    row = {
        "run": run,
        "message": session.messages.first(),
        "toolcall": run.tool_calls.get(),
        "approval": run.approvals.get(),
        "llmcall": run.llm_calls.get(),
    }[model]

    page = admin_client.get(shown(row))

    assert page.status_code == 200
    assert b'name="_save"' not in page.content
    assert admin_client.post(shown(row), {"status": "failed"}).status_code == 403
    assert admin_client.get(reverse(f"admin:chat_{model}_add")).status_code == 403
    delete = reverse(f"admin:chat_{model}_delete", args=[row.pk])
    assert admin_client.post(delete, {"post": "yes"}).status_code == 403


def test_content_needs_its_own_permission(alice: User, project: Project) -> None:
    session = conversation(alice, project)
    run = session.runs.get()
    rows = [session, run, run.tool_calls.get(), run.approvals.get()]
    rows.append(Feedback.objects.get())
    client = operator(
        "view_chatsession",
        "view_run",
        "view_toolcall",
        "view_approval",
        "view_llmcall",
        "view_feedback",
    )

    pages = [client.get(shown(row)) for row in rows]
    pages += [client.get(listed(model)) for model in MODELS if model != "worker"]

    for page in pages:
        assert TEXT not in page.content.decode()
        assert OUTPUT not in page.content.decode()
    assert client.get(listed("message")).status_code == 403


def test_content_is_shown_to_who_may_view_messages(
    alice: User, project: Project
) -> None:
    session = conversation(alice, project)
    client = operator("view_chatsession", "view_toolcall", "view_message")

    session_page = client.get(shown(session)).content.decode()
    call_page = client.get(shown(session.runs.get().tool_calls.get())).content.decode()

    assert TEXT in session_page
    assert TEXT in call_page
    assert OUTPUT in call_page


def test_each_look_at_content_is_recorded(alice: User, project: Project) -> None:
    session = conversation(alice, project)
    call = session.runs.get().tool_calls.get()
    client = operator("view_chatsession", "view_toolcall", "view_message")

    client.get(shown(session))
    client.get(shown(call))
    client.get(listed("message"), {"q": "words"})
    client.get(listed("chatsession"))

    looks = Look.objects.order_by("pk")
    assert [
        (look.username, look.page, look.object_id, look.owner, look.query)
        for look in looks
    ] == [
        ("operator", "chatsession", str(session.pk), "alice", ""),
        ("operator", "toolcall", str(call.pk), "alice", ""),
        ("operator", "message", "", "", "q=words"),
    ]


def test_a_page_without_content_is_no_look(alice: User, project: Project) -> None:
    session = conversation(alice, project)
    client = operator("view_chatsession", "view_toolcall")

    client.get(shown(session))
    client.get(shown(session.runs.get().tool_calls.get()))

    assert not Look.objects.exists()


def test_nobody_deletes_a_look(admin_client: Client, alice: User) -> None:
    look = Look.objects.create(user=alice, username="alice", page="message")

    admin_client.post(
        reverse("admin:accounts_look_changelist"),
        {"action": "delete_selected", "_selected_action": [look.pk], "post": "yes"},
    )
    alice.delete()

    look.refresh_from_db()
    assert (look.user, look.username) == (None, "alice")


def test_a_hidden_field_cannot_be_guessed_by_filters(
    alice: User, project: Project
) -> None:
    conversation(alice, project)
    client = operator("view_toolcall", "view_chatsession")

    by_field = client.get(listed("toolcall"), {"arguments__contains": "words"})
    by_relation = client.get(
        listed("chatsession"), {"messages__content__contains": "words"}
    )

    assert by_field.status_code == 400
    assert by_relation.status_code == 400


def test_renaming_makes_the_title_final(
    admin_client: Client, alice: User, project: Project
) -> None:
    session = conversation(alice, project)

    admin_client.post(shown(session), inlines_of(session) | {"title": "Mine"})

    session.refresh_from_db()
    assert (session.title, session.is_title_final) == ("Mine", True)


def test_saving_does_not_write_counters_back(
    admin_client: Client, alice: User, project: Project
) -> None:
    session = conversation(alice, project)
    data = inlines_of(session) | {"title": session.title, "pinned": "on"}
    ChatSession.objects.filter(pk=session.pk).update(total_tokens=77)

    admin_client.post(shown(session), data)

    session.refresh_from_db()
    assert (session.pinned, session.total_tokens) == (True, 77)
    assert not session.is_title_final


def test_a_title_cannot_be_emptied(
    admin_client: Client, alice: User, project: Project
) -> None:
    session = conversation(alice, project)

    page = admin_client.post(shown(session), inlines_of(session) | {"title": " "})

    assert "at least one character" in page.content.decode()


def test_sessions_are_pinned_and_unpinned(
    admin_client: Client, alice: User, project: Project
) -> None:
    session = conversation(alice, project)

    press(admin_client, "chatsession", "pin", session)
    session.refresh_from_db()
    was_pinned = session.pinned
    press(admin_client, "chatsession", "unpin", session)

    session.refresh_from_db()
    assert (was_pinned, session.pinned) == (True, False)


@pytest.mark.parametrize("model", ["chatsession", "run"])
def test_stopping_ends_a_run_that_waits(
    admin_client: Client, alice: User, project: Project, model: str
) -> None:
    session = conversation(alice, project, status=Status.QUEUED)
    run = session.runs.get()

    press(admin_client, model, "stop", session if model == "chatsession" else run)

    run.refresh_from_db()
    assert (run.status, run.reason) == (Status.STOPPED, "operator")


@pytest.mark.parametrize("way", ["page", "action"])
def test_deleting_a_session_stops_its_run_and_keeps_the_ledger(
    admin_client: Client,
    alice: User,
    project: Project,
    way: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = conversation(alice, project, status=Status.QUEUED)
    stopped: list[str] = []
    from chat import deletion

    stop = deletion.stop_run
    monkeypatch.setattr(
        deletion, "stop_run", lambda run, reason: stopped.append(reason) or stop(run)
    )

    if way == "page":
        url = reverse("admin:chat_chatsession_delete", args=[session.pk])
        confirmation = admin_client.get(url).content.decode()
        assert TEXT not in confirmation
        admin_client.post(url, {"post": "yes"})
    else:
        data = {
            "action": "delete_selected",
            "_selected_action": [session.pk],
            "post": "yes",
        }
        admin_client.post(listed("chatsession"), data)

    assert stopped == ["deleted"]
    assert not ChatSession.objects.exists()
    assert LLMCall.objects.get().total_tokens == 120


def test_a_user_can_be_deleted_with_all_conversations(
    admin_client: Client, alice: User, project: Project
) -> None:
    conversation(alice, project)
    url = reverse("admin:auth_user_delete", args=[alice.pk])

    admin_client.post(url, {"post": "yes"})

    assert not User.objects.filter(pk=alice.pk).exists()
    assert LLMCall.objects.get().username == "alice"


def test_an_auditor_gets_no_actions_that_change_something(
    alice: User, project: Project
) -> None:
    session = conversation(alice, project, status=Status.QUEUED)
    client = operator("view_chatsession", "view_run")

    for model, action, row in [
        ("chatsession", "pin", session),
        ("chatsession", "stop", session),
        ("run", "stop", session.runs.get()),
    ]:
        press(client, model, action, row)

    session.refresh_from_db()
    assert not session.pinned
    assert session.runs.get().status == Status.QUEUED


def test_the_ledger_sums_what_is_filtered(
    admin_client: Client, alice: User, project: Project
) -> None:
    ledger_row(alice)
    ledger_row(alice, model="large", input_tokens=1000, output_tokens=1, cost=None)
    ledger_row(alice, model="large", input_tokens=None, total_tokens=None)

    answer = admin_client.get(listed("llmcall"), {"model": "large"})

    assert answer.context["sums"] == {
        "calls": 2,
        "input": 1000,
        "output": 21,
        "cost": Decimal("0.5"),
        "unknown": 1,
    }
    assert "1,000" in answer.content.decode()


@pytest.mark.parametrize(
    "query",
    [
        {"operation": "title"},
        {"status": "failed"},
        {"project_name": "Other"},
        {"user__id__exact": "999999"},
        {"started_at__year": "1999"},
    ],
)
def test_the_ledger_is_filtered(
    admin_client: Client, alice: User, query: dict[str, str]
) -> None:
    ledger_row(alice)

    answer = admin_client.get(listed("llmcall"), query)

    assert answer.context["sums"]["calls"] == 0


def test_the_ledger_is_exported_without_formulas(
    admin_client: Client, alice: User
) -> None:
    rows = [ledger_row(alice), ledger_row(alice, project_name='=HYPERLINK("x")')]

    answer = press(admin_client, "llmcall", "export_csv", *rows)

    text = answer.content.decode()  # type: ignore[attr-defined]
    found = list(csv.DictReader(io.StringIO(text)))
    assert sorted(row["project_name"] for row in found) == [
        '\'=HYPERLINK("x")',
        "Campus",
    ]
    assert {row["total_tokens"] for row in found} == {"120"}


def test_the_first_page_draws_tokens_by_day(admin_client: Client, alice: User) -> None:
    ledger_row(alice)
    ledger_row(alice, started_at=timezone.now() - timedelta(days=3), model="large")
    ledger_row(alice, started_at=timezone.now() - timedelta(days=60))

    answer = admin_client.get(reverse("admin:index"))

    tokens = answer.context["tokens"]
    assert tokens["total"] == 240
    assert [column.total for column in tokens["columns"]].count(120) == 2
    assert [(row.name, row.tokens) for row in tokens["users"]] == [("alice", 240)]
    assert {row.name for row in tokens["models"]} == {"small", "large"}
    assert "<svg" in answer.content.decode()


def test_the_first_page_says_when_there_are_no_tokens(admin_client: Client) -> None:
    assert "No tokens yet" in admin_client.get(reverse("admin:index")).content.decode()


def test_the_first_page_hides_sums_from_who_may_not_see_the_ledger(
    alice: User,
) -> None:
    ledger_row(alice)

    page = operator("view_chatsession").get(reverse("admin:index"))

    assert "Tokens of the last" not in page.content.decode()


def inlines_of(session: ChatSession) -> dict[str, object]:
    """What a browser sends along for tables that cannot be changed."""
    return {
        f"{prefix}-{name}": 0
        for prefix in ("runs", "messages")
        for name in ("TOTAL_FORMS", "INITIAL_FORMS")
    }
