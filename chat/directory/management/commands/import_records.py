"""Brings a CSV or JSON file into the directory."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from chat.directory.importing import apply, preview
from chat.directory.lookup import UnknownKind, kind_named
from chat.directory.reading import LARGEST, FileTooLarge, FileUnreadable, read_rows
from projects.models import Project

_SHOWN = 20


class Command(BaseCommand):
    help = (
        "Import records of one kind. Records with a key that is there are changed, "
        "others made; with an error in any row nothing is written."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", help="such as courses")
        parser.add_argument("file", type=Path, help="CSV or JSON")
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would be, write nothing"
        )
        parser.add_argument(
            "--project", default="", help="id of the project whose records these are"
        )
        parser.add_argument("--server", default="", help="name of its server")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        try:
            with path.open("rb") as file:
                rows = read_rows(file.read(LARGEST + 1))
            kind = kind_named(options["kind"])
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from None
        except (FileTooLarge, FileUnreadable, UnknownKind) as error:
            raise CommandError(str(error)) from None
        seen = preview(rows, kind, self._project(options))
        for row in seen.rows:
            for warning in row.warnings[:_SHOWN]:
                self.stdout.write(f"Row {row.number}: {warning}")
        if problems := seen.problems:
            shown = "\n".join(problems[:_SHOWN])
            raise CommandError(
                f"{shown}\n{len(problems)} errors. Nothing was imported."
            )
        counts = ", ".join(
            f"{seen.count(state)} {state}" for state in ("new", "changed", "same")
        )
        if options["dry_run"]:
            self.stdout.write(f"{kind.label}: {counts}. Nothing was written.")
            return
        apply(seen, source=path.name)
        self.stdout.write(f"{kind.label}: {counts}.")

    def _project(self, options: dict[str, Any]) -> Project | None:
        if not options["project"]:
            return None
        rows = Project.objects.filter(project_id=options["project"])
        if options["server"]:
            rows = rows.filter(server__name=options["server"])
        found = list(rows[:2])
        if len(found) != 1:
            raise CommandError("No such project." if not found else "Name its server.")
        return found[0]
