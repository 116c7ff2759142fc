"""Brings a project's conversations in from an archive."""

import uuid
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from chat.archive.errors import ArchiveRefused
from chat.archive.importing import SIZE_LIMIT, Archive, People, Report, open_archive
from chat.importing.arguments import pairs, printable
from projects.models import Project, Server


class Command(BaseCommand):
    help = (
        "Import a project archive. It is checked to its last line before anything is "
        "written; importing it again changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="archive of export_project")
        parser.add_argument("--server", default="", help="name of the server here")
        parser.add_argument(
            "--project", default="", help="id of the project here, where it is another"
        )
        parser.add_argument(
            "--user-map",
            action="append",
            default=[],
            metavar="NAME=USERNAME",
            help="who a user of the archive is here (may be repeated)",
        )
        parser.add_argument(
            "--create-users",
            action="store_true",
            help="make missing users: inactive, without a password",
        )
        parser.add_argument(
            "--max-bytes", type=int, default=SIZE_LIMIT, help="unpacked, at most"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        people = People(dict(pairs(options["user_map"])))
        outcomes: Counter[str] = Counter()
        try:
            with open_archive(
                options["file"], size_limit=options["max_bytes"]
            ) as archive:
                project = self._project(archive, options)
                self._greet(archive, people, project, options["create_users"])
                for report in archive.bring(project, people):
                    outcomes[report.outcome] += 1
                    self._show(report)
        except ArchiveRefused as exc:
            end = "" if outcomes else " Nothing was imported."
            raise CommandError(f"{exc}{end}") from exc
        told = ", ".join(f"{number} {name}" for name, number in outcomes.items())
        self.stdout.write(f"{told or 'The archive holds no session'}.")
        if outcomes["failed"] or outcomes["skipped"]:
            raise CommandError("Not everything was imported; see the notes above.")

    def _project(self, archive: Archive, options: dict[str, Any]) -> Project:
        """Found, or made as closed: its server tells the rest when it is read."""
        servers = Server.objects.all()
        if options["server"]:
            servers = servers.filter(name=options["server"])
        if servers.count() != 1:
            names = ", ".join(Server.objects.values_list("name", flat=True))
            raise CommandError(f"Choose a server of these with --server: {names}.")
        key = options["project"] or archive.project_id
        try:
            key = str(uuid.UUID(key))
        except ValueError:
            raise CommandError("The id of a project is a UUID.") from None
        project, is_new = Project.objects.get_or_create(
            server=servers.get(),
            project_id=key,
            defaults={"name": archive.project_name[:255]},
        )
        if is_new:
            self.stdout.write(
                f"{printable(project.name)} was not known here until now."
            )
        return project

    def _greet(
        self, archive: Archive, people: People, project: Project, may_create: bool
    ) -> None:
        for name in archive.users:
            if may_create and people.create(name):
                self.stdout.write(f"User {printable(name)} was made, inactive.")
            user = people.find(name)
            if user is not None and project.role_of(user) is None:
                self.stderr.write(
                    f"{user} has no role in {project}: add a membership, or the"
                    " conversations stay out of sight."
                )

    def _show(self, report: Report) -> None:
        self.stdout.write(
            f"{report.thread_id}  {report.outcome:<9} {printable(report.username):<12}"
            f" {printable(report.title)[:60]}"
        )
        if report.note:
            self.stdout.write(f"    {printable(report.note)}")
