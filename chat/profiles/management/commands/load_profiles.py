"""Loads assistant profiles from JSON files; at each start the shipped ones."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from chat.profiles.loading import Refused, files_of, load, shipped_files
from copilot_site.lib.errors import UserFacingError


class Command(BaseCommand):
    help = (
        "Load assistant profiles from a JSON file or a folder of such; without a "
        "path, the shipped ones and those in PROFILES_DIR. What an operator has "
        "edited is not replaced."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", nargs="?", type=Path)
        parser.add_argument(
            "--dry-run", action="store_true", help="Only say what would be done."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path | None = options["path"]
        try:
            paths = files_of(path) if path else shipped_files()
        except UserFacingError as error:
            raise CommandError(str(error)) from None
        refused = 0
        for result in load(paths, is_dry=options["dry_run"]):
            if isinstance(result, Refused):
                refused += 1
                faults = "\n".join(f"  {fault}" for fault in result.faults)
                self.stderr.write(f"{result.path}: not loaded\n{faults}")
            elif result.outcome != "unchanged" or options["verbosity"] > 1:
                note = f" ({result.note})" if result.note else ""
                self.stdout.write(f"Profile {result.slug}: {result.outcome}{note}")
        if refused:
            raise CommandError(f"{refused} of {len(paths)} profiles are not loaded.")
