"""Tries a source out: does it answer, and may its role do more than read?"""

from chat.datasources.errors import DataSourceError
from chat.datasources.models import DataSource
from chat.datasources.targets import engine_of, target_of


def faults_of(source: DataSource) -> list[str]:
    """What is wrong with it; empty where all is well. It connects."""
    try:
        target = target_of(source)
        return engine_of(target).warnings(target)
    except DataSourceError as error:
        return [str(error)]
