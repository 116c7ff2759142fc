"""Makes the search index of documents anew."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from chat.knowledge.reindexing import reindex


class Command(BaseCommand):
    help = (
        "Make the full-text index anew, and let the workers read again the documents "
        "whose vectors are not of today's embeddings."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--all", action="store_true", help="Read every document.")

    def handle(self, *args: Any, **options: Any) -> None:
        count = reindex(everything=options["all"])
        self.stdout.write(f"{count} documents wait for the workers")
