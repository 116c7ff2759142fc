"""Which worker has the run, and one more to take it over."""

from tests.stack import Stack, eventually
from tests.stack_client import Event


def add_second_worker(stack: Stack) -> None:
    """Returns when it beats."""
    known = worker_count(stack)
    stack.start_again("worker2")
    eventually(lambda: worker_count(stack) > known, "worker2 beats", seconds=60)


def worker_count(stack: Stack) -> int:
    return int(stack.rows("SELECT count(*) FROM chat_worker")[0][0])


def executor(stack: Stack) -> str:
    """The process that executes the one run in progress."""
    rows = stack.rows(
        "SELECT w.pid FROM chat_run r JOIN chat_worker w ON w.id = r.worker_id"
        " WHERE r.status IN ('running', 'stopping')"
    )
    (pid,) = rows[0]
    (name,) = [
        name
        for name in ("worker", "worker2")
        if stack.is_running(name) and stack.pid(name) == pid
    ]
    return name


def is_second_attempt(event: Event) -> bool:
    """New text after a takeover."""
    return event["type"] == "content" and event["attempt"] == 2
