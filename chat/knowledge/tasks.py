"""Ingestion in the workers: the rows are the queue, a message only wakes them."""

from celery import shared_task

from chat.documents.jobs import JobQuerySet, work_off
from chat.knowledge.ingest import INGEST, ingest
from chat.knowledge.models import Document


def waiting_documents() -> JobQuerySet:
    return Document.objects.select_related("file", "collection")


def ingest_waiting() -> None:
    """Until nothing waits, a few at a time in each worker."""
    work_off(waiting_documents, ingest)


@shared_task(name=INGEST)
def ingest_documents() -> None:
    ingest_waiting()
