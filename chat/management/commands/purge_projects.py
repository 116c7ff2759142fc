"""Removes what projects left that were deleted in GNS3."""

from typing import Any

from django.core.management.base import BaseCommand

from chat.lifecycle import purge_projects


class Command(BaseCommand):
    help = (
        "Purge projects that were deleted in GNS3 for PROJECT_RETENTION_DAYS. "
        "The workers do the same once an hour."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        purged = purge_projects()
        for record in purged:
            self.stdout.write(f"{record.project_id} {record.name}: {record.counts}")
        self.stdout.write(f"{len(purged)} projects purged")
