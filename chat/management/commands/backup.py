"""Writes the whole installation into one file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from chat.archive.backup import make_backup
from chat.archive.errors import ArchiveRefused


class Command(BaseCommand):
    help = (
        "Write database and files of this installation into one file, while it runs. "
        "Stored secrets stay encrypted."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="backup to make (.zip)")
        parser.add_argument(
            "--with-keys",
            action="store_true",
            help="the keys too: whoever has the file then has all secrets in clear",
        )
        parser.add_argument(
            "--rows",
            action="store_true",
            help="tables as JSON lines, for another kind of database",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            report = make_backup(
                options["file"],
                with_keys=options["with_keys"],
                as_rows=options["rows"],
            )
        except ArchiveRefused as exc:
            raise CommandError(str(exc)) from exc
        self.stdout.write(
            f"{options['file']}: database ({report.form}) and {report.files} files."
        )
        if report.keys:
            self.stdout.write(
                f"It holds keys in clear ({', '.join(report.keys)}): keep it secret."
            )
        else:
            self.stdout.write(
                "It holds no keys: keep encryption_key elsewhere, or the stored"
                " secrets are lost with this machine."
            )
