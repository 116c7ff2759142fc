"""Brings an installation back from a backup."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from chat.archive.errors import ArchiveRefused
from chat.archive.restore import restore_backup


class Command(BaseCommand):
    help = (
        "Restore a backup into this installation, which must be stopped and empty. "
        "The file is checked before anything is written."
    )
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="backup of the command backup")
        parser.add_argument(
            "--replace", action="store_true", help="lose what this installation holds"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            report = restore_backup(options["file"], replace=options["replace"])
        except ArchiveRefused as exc:
            raise CommandError(str(exc)) from exc
        self.stdout.write(f"Restored the database and {len(report.files)} files.")
        if report.keys:
            self.stdout.write(
                f"Keys came back ({', '.join(report.keys)}); those of before are kept"
                " beside them. Start the server anew."
            )
        if report.unreadable:
            self.stderr.write(
                f"{report.unreadable} stored secrets were encrypted with other keys:"
                " put the old encryption_key back, or enter them anew."
            )
