"""Compares the ledger with what runs and sessions say."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from chat.ledger import differences


class Command(BaseCommand):
    help = (
        "Compare LLM calls and messages with the totals of runs and sessions. "
        "Prints each difference and ends with 1 if there is any."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--fix", action="store_true", help="write what was counted")

    def handle(self, *args: Any, **options: Any) -> None:
        count = 0
        for difference in differences(fix=options["fix"]):
            self.stdout.write(str(difference))
            count += 1
        if count:
            verb = "corrected" if options["fix"] else "found"
            self.stdout.write(f"{count} differences {verb}")
            sys.exit(1)
        self.stdout.write("The ledger agrees.")
