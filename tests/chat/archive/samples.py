"""A project with everything that an archive or a backup can hold."""

import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from django.contrib.auth.models import Group, User

from chat.models import Approval, ChatSession, LLMCall, Message, Run, ToolCall
from llmconfig.models import LLMConfig
from projects.models import Project
from tests.chat.support import make_worker

NOON = datetime(2026, 3, 4, 12, 0, 0, 123456, tzinfo=UTC)
CANARIES = {
    "api key": "canary-api-key-0123456789",
    "server password": "canary-server-password",
    "run secrets": "canary-run-secret-0123",
}


def fill(project: Project, user: User) -> ChatSession:
    """One finished round and one in progress; secrets wherever they may be."""
    project.server.password = CANARIES["server password"]
    project.server.save()
    group = Group.objects.create(name="students")
    user.groups.add(group)
    config = LLMConfig.objects.create(
        name="Ours",
        group=group,
        base_url="http://127.0.0.1:9/v1",
        model="model-1",
        api_key=CANARIES["api key"],
        input_price=Decimal("2.5"),
        temperature=0.1,
    )
    session = ChatSession.objects.create(
        user=user,
        project=project,
        title="Réseau “R1”",
        pinned=True,
        is_title_final=True,
        message_count=4,
        total_tokens=30,
        last_message_at=NOON,
        created_at=NOON,
        updated_at=NOON,
        metadata={"mode": "lab", "list": [1, 2.5, None, {"ü": True}]},
        stats={"tools": {"ping": 3}},
    )
    _finished_round(session, config, user)
    _open_round(session, config)
    ledger(session, None)
    return session


def ledger(session: ChatSession | None, run: Run | None, **fields: object) -> LLMCall:
    whose = {} if session is None else {"session": session, "user": session.user}
    if session is not None and session.project is not None:
        whose["project_id"] = session.project.project_id
        whose["project_name"] = session.project.name
    values = {
        "run": run,
        "username": "alice",
        "provider": "openai",
        "model": "model-1",
        "status": "succeeded",
        "input_tokens": 20,
        "input_price": Decimal("2.5"),
        "cost": Decimal("0.00005"),
        "started_at": NOON,
    }
    return LLMCall.objects.create(**{**values, **whose, **fields})


def _finished_round(session: ChatSession, config: LLMConfig, user: User) -> None:
    run = Run.objects.create(
        session=session,
        round=1,
        status="succeeded",
        llm_config=config,
        request_key=uuid.uuid4().hex,
        temperature=0.5,
        input_tokens=20,
        created_at=NOON,
        started_at=NOON,
        finished_at=NOON + timedelta(seconds=9),
    )
    question = _message(run, 1, "user", "Why can't PC1 reach PC2?\n\t🤔")
    asks = _message(run, 2, "assistant", "", parent=question, reasoning="Let me see.")
    result = _message(run, 3, "tool", '{"ok": 1}', parent=asks, tool_call_id="c1")
    _message(run, 4, "assistant", "The gateway.", parent=result, finish_reason="stop")
    call = ToolCall.objects.create(
        run=run,
        message=asks,
        result=result,
        call_id="c1",
        name="run_commands",
        arguments='{"devices": []}',
        effect="change",
        status="succeeded",
        created_at=NOON,
        elapsed_ms=12,
        extra={"index": 0},
    )
    Approval.objects.create(
        run=run,
        tool_call=call,
        status="approved",
        state={"PC1": "0" * 64},
        requested_at=NOON,
        decided_at=NOON,
        decided_by=user,
    )
    ledger(session, run)


def _open_round(session: ChatSession, config: LLMConfig) -> None:
    run = Run.objects.create(
        session=session,
        round=2,
        status="running",
        llm_config=config,
        worker=make_worker(),
        secrets=CANARIES["run secrets"],
    )
    question = _message(
        run, 1, "user", f"The password is {CANARIES['server password']}"
    )
    asks = _message(run, 2, "assistant", "Half", parent=question, is_partial=True)
    ToolCall.objects.create(
        run=run,
        message=asks,
        call_id="c2",
        name="run_commands",
        arguments=f'{{"key": "{CANARIES["run secrets"]}"}}',
        status="running",
    )
    ledger(session, run, status="started")


def _message(
    run: Run, sequence: int, role: str, text: str, **fields: object
) -> Message:
    return Message.objects.create(
        **{
            "session": run.session,
            "run": run,
            "round": run.round,
            "sequence": sequence,
            "role": role,
            "content": text,
            "created_at": NOON + timedelta(seconds=sequence),
            "metadata": {"model": "model-1"} if role == "assistant" else {},
            **fields,
        }
    )
