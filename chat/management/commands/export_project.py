"""Writes a project's conversations into one file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from chat.archive.errors import ArchiveRefused
from chat.archive.exporting import export_project
from chat.importing.arguments import find_project


class Command(BaseCommand):
    help = (
        "Write the conversations of a project, with runs, tool calls, approvals and "
        "token ledger, into an archive. Passwords and keys are never in it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="id of the project")
        parser.add_argument("file", type=Path, help="archive to make (.zip)")
        parser.add_argument("--server", default="", help="name of its server")

    def handle(self, *args: Any, **options: Any) -> None:
        project = find_project(options["project"], options["server"])
        try:
            counts = export_project(project, options["file"])
        except ArchiveRefused as exc:
            raise CommandError(str(exc)) from exc
        told = ", ".join(
            f"{number} {name.removesuffix('.jsonl').replace('_', ' ')}"
            for name, number in counts.items()
        )
        self.stdout.write(f"{project} is in {options['file']}: {told}.")
