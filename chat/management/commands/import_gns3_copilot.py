"""Brings conversations of GNS3's own Copilot over."""

from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from chat.importing.arguments import find_project, find_user, pairs, printable
from chat.importing.errors import SourceUnreadable
from chat.importing.gns3 import Outcome, Target, ThreadReport, import_file


class Command(BaseCommand):
    help = (
        "Import the conversations of a copilot_checkpoints.db of GNS3's Copilot. "
        "The file is only read; importing it again changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="copilot_checkpoints.db")
        parser.add_argument("--project", required=True, help="id of the project here")
        parser.add_argument("--server", default="", help="name of its server here")
        parser.add_argument("--user", default="", help="who gets what is not mapped")
        parser.add_argument(
            "--map",
            action="append",
            default=[],
            metavar="SOURCE_ID=USERNAME",
            help="who a user of the source is here (may be repeated)",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="report only, keep nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not (options["user"] or options["map"]):
            raise CommandError("Say whose the conversations are: --user or --map.")
        target = Target(
            project=find_project(options["project"], options["server"]),
            users={source: find_user(name) for source, name in pairs(options["map"])},
            default_user=find_user(options["user"]) if options["user"] else None,
            is_dry_run=options["dry_run"],
        )
        self._warn_strangers(target)
        outcomes: Counter[str] = Counter()
        try:
            for report in import_file(options["path"], target):
                if not outcomes:
                    self.stdout.write(
                        f"{'THREAD':<36}  {'OUTCOME':<9} {'USER':<12} {'MESSAGES':>8}"
                        f" {'CALLS':>5}  TITLE"
                    )
                outcomes[report.outcome] += 1
                self._show(report)
        except SourceUnreadable as exc:
            raise CommandError(str(exc)) from exc
        told = ", ".join(f"{number} {name}" for name, number in outcomes.items())
        end = " Dry run: nothing was kept." if target.is_dry_run else ""
        self.stdout.write(f"{told or 'The file holds no thread'}.{end}")
        if outcomes[Outcome.FAILED] or outcomes[Outcome.SKIPPED]:
            raise CommandError("Not everything was imported; see the notes above.")

    def _show(self, report: ThreadReport) -> None:
        self.stdout.write(
            f"{printable(report.thread_id):<36}  {report.outcome:<9}"
            f" {printable(report.username)[:12]:<12} {report.messages:>8}"
            f" {report.tool_calls:>5}  {printable(report.title)[:60]}"
        )
        for note in report.notes:
            self.stdout.write(f"    {printable(note)}")

    def _warn_strangers(self, target: Target) -> None:
        users = [*target.users.values(), target.default_user]
        for user in {user.pk: user for user in users if user is not None}.values():
            if target.project.role_of(user) is None:
                self.stderr.write(
                    f"{user} has no role in {target.project}: add a membership,"
                    " or the conversations stay out of sight."
                )
