"""Where Celery meets the loop: a task is a run's id."""

import threading
from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutdown, worker_shutting_down

from chat.agent.worker import WorkerProcess


@shared_task(name="chat.tasks.execute_run")
def execute_run(run_id: str) -> None:
    """Execute the run if it still waits; a second delivery finds nothing to do."""
    WorkerProcess.of_this_process().execute(run_id)


@worker_ready.connect
def _start(**_: Any) -> None:
    # Imports and connections are made before the first question, not with it.
    WorkerProcess.of_this_process()


@worker_shutting_down.connect
def _hand_over(**_: Any) -> None:
    # Celery would wait for the runs' ends. In a thread: this is a signal handler.
    threading.Thread(target=WorkerProcess.of_this_process().close).start()


@worker_shutdown.connect
def _stop(**_: Any) -> None:
    WorkerProcess.of_this_process().close()
