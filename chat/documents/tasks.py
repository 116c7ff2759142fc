"""Reading of attached files in the workers, and their end."""

from typing import Any

from celery import shared_task
from celery.signals import worker_shutting_down

from chat.documents.attachments import READ, read_waiting
from chat.documents.jobs import closing


@shared_task(name=READ)
def read_attachments() -> None:
    read_waiting()


@worker_shutting_down.connect
def _give_back(**_: Any) -> None:
    # What is being read goes back to the row; another worker reads it.
    closing.set()
