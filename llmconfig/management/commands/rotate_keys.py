"""Encrypt every stored secret with the newest key of ENCRYPTION_KEYS."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from llmconfig.rotation import Column, rotate

_SHOWN = 20


class Command(BaseCommand):
    help = (
        "Encrypts every stored secret with the first key of ENCRYPTION_KEYS. "
        "Put a new key in front, run this, then take the old key away. "
        "Values that no key opens are left alone and listed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would be done"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        is_dry_run = bool(options["dry_run"])
        self.stdout.write(f"Encryption keys: {len(settings.ENCRYPTION_KEYS)}.")
        columns = rotate(is_dry_run=is_dry_run)
        for column in columns:
            self.stdout.write(_line(column, is_dry_run))
        lost = [column for column in columns if column.unreadable]
        if lost:
            for column in lost:
                self.stderr.write(_unreadable(column))
            raise CommandError(
                "Some values cannot be read with any of the keys and were left as they "
                "are. Put the missing key back into ENCRYPTION_KEYS and run this "
                "again; do not take old keys away yet."
            )
        if is_dry_run:
            self.stdout.write("Nothing was written.")
        elif any(column.changed_meanwhile for column in columns):
            self.stdout.write("Some values changed meanwhile: run this once more.")
        else:
            self.stdout.write("Older keys are no longer needed.")


def _line(column: Column, is_dry_run: bool) -> str:
    done = "would be renewed" if is_dry_run else "renewed"
    parts = [f"{column.renewed} {done}", f"{column.up_to_date} up to date"]
    if column.changed_meanwhile:
        parts.append(f"{column.changed_meanwhile} changed meanwhile")
    if column.unreadable:
        parts.append(f"{len(column.unreadable)} unreadable")
    return f"{column}: {', '.join(parts)}"


def _unreadable(column: Column) -> str:
    shown = ", ".join(map(str, column.unreadable[:_SHOWN]))
    more = len(column.unreadable) - _SHOWN
    return f"{column}: unreadable: {shown}{f' and {more} more' if more > 0 else ''}"
