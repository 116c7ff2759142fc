"""python -m bench.rows: how long lists, history and the admin take on a full database.

10,000 sessions, 10,000 messages in one of them, 100,000 LLM calls; each page asked
many times through Django's own handler. Numbers of queries are printed beside.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

LAB = "11111111-1111-4111-8111-111111111111"
WORDS = [
    *("gateway", "route", "ping", "interface", "address"),
    *("mask", "neighbour", "ospf", "vlan", "switch"),
]
BATCH = 2_000


def fill(sessions: int, messages: int, calls: int) -> Any:
    """Rows as a busy site has them after a year; the user who owns them."""
    from django.contrib.auth.models import User
    from django.utils import timezone

    from chat.models import ChatSession, LLMCall, Message, Run
    from chat.models.run import Status
    from projects.models import Membership, Project, Role, Server

    user = User.objects.create_superuser("bench", password="bench")
    server = Server.objects.create(name="Bench", url="http://127.0.0.1:9")
    project = Project.objects.create(
        server=server, project_id=LAB, name="Bench", status="opened"
    )
    Membership.objects.create(project=project, user=user, role=Role.OWNER)
    now = timezone.now()

    def many(model: Any, rows: Iterator[Any]) -> None:
        model.objects.bulk_create(rows, batch_size=BATCH)

    many(
        ChatSession,
        (
            ChatSession(
                user=user,
                project=project,
                title=f"{WORDS[n % 10]} {WORDS[n // 10 % 10]} {n}",
                pinned=n % 500 == 0,
                message_count=4,
                updated_at=now - timedelta(minutes=n),
            )
            for n in range(sessions)
        ),
    )
    long = ChatSession.objects.create(user=user, project=project, title="Long")
    rounds = [
        Run(session=long, round=n + 1, status=Status.SUCCEEDED)
        for n in range(messages // 2)
    ]
    many(Run, iter(rounds))
    many(
        Message,
        (
            Message(
                session=long,
                run=run,
                round=run.round,
                sequence=place,
                role=role,
                content=f"{WORDS[run.round % 10]} {WORDS[place]} " * 20,
            )
            for run in rounds
            for place, role in ((1, "user"), (2, "assistant"))
        ),
    )
    many(
        LLMCall,
        (
            LLMCall(
                user=user,
                username="bench",
                project_id=LAB,
                project_name="Bench",
                provider="openai",
                model=f"model-{n % 7}",
                status="succeeded",
                input_tokens=1000 + n % 50,
                output_tokens=100,
                total_tokens=1100 + n % 50,
                started_at=now - timedelta(minutes=5 * n),
            )
            for n in range(calls)
        ),
    )
    return user, long


def pages(long: Any, middle: str) -> dict[str, str]:
    chat = f"/v3/projects/{LAB}/chat"
    history = f"{chat}/sessions/{long.thread_id}/history"
    return {
        "session list, first 50": f"{chat}/sessions?limit=50",
        "session list, 50 from 9,000": f"{chat}/sessions?limit=50&offset=9000",
        "session search": f"{chat}/sessions?q=ospf+vlan",
        "history, newest 100": f"{history}?limit=100",
        "history, 100 from the middle": f"{history}?limit=100&before={middle}",
        "admin: sessions": "/admin/chat/chatsession/",
        "admin: ledger": "/admin/chat/llmcall/",
        "admin: ledger, one model": "/admin/chat/llmcall/?model=model-3",
        "admin: first page": "/admin/",
    }


def measure(get: Callable[[], Any], times: int) -> tuple[float, float, int]:
    """p50 and p95 in milliseconds, and the number of queries."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as queries:
        answer = get()
    # Read at once: the next request empties the log.
    asked = len(queries)
    assert answer.status_code == 200, answer.status_code
    spent = []
    for _ in range(times):
        started = time.perf_counter()
        get()
        spent.append((time.perf_counter() - started) * 1000)
    spent.sort()
    return statistics.median(spent), spent[int(len(spent) * 0.95)], asked


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=10_000)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=30)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="copilot-rows-") as folder:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "copilot_site.settings",
            "DATA_DIR": folder,
            "LOG_LEVEL": "ERROR",
        }
        import django

        django.setup()
        from django.conf import settings
        from django.core.management import call_command
        from django.test import Client

        # Nothing here needs Redis; a page that asks it would fail.
        settings.ALLOWED_HOSTS = ["testserver"]
        call_command("migrate", interactive=False, verbosity=0)
        started = time.perf_counter()
        user, long = fill(chosen.sessions, chosen.messages, chosen.calls)
        print(f"filled in {time.perf_counter() - started:.0f} s\n")
        client = Client()
        client.force_login(user)
        middle = str(long.messages.all()[chosen.messages // 2].pk)
        assert uuid.UUID(middle)
        print(f"{'page':<34}{'p50':>10}{'p95':>10}{'queries':>9}")
        for name, path in pages(long, middle).items():
            p50, p95, queries = measure(
                lambda path=path: client.get(path), chosen.times
            )
            print(f"{name:<34}{p50:>7.1f} ms{p95:>7.1f} ms{queries:>9}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
