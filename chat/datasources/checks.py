"""A check of all sources, for `manage.py check --deploy`: it connects to each."""

from typing import Any

from django.core.checks import CheckMessage, Warning, register
from django.db import DatabaseError

from chat.datasources.models import DataSource
from chat.datasources.probing import faults_of


@register(deploy=True)
def data_sources(**_: Any) -> list[CheckMessage]:
    """Each enabled source answers, and its role may read and nothing more."""
    try:
        sources = list(DataSource.objects.filter(is_enabled=True))
    except DatabaseError:
        # Before the first migration.
        return []
    return [
        Warning(f"Data source “{source.slug}”: {text}", id="copilot.W010")
        for source in sources
        for text in faults_of(source)
    ]
