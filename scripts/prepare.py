"""Brings the database up to date and makes the first users: one step before serving."""

import os
import sys
from pathlib import Path

from scripts.launcher import upgrade
from scripts.launcher.errors import LaunchError


def main() -> int:
    # Django's names are looked up here: the settings read the environment at import.
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "copilot_site.settings")
    import django
    from django.db.utils import Error

    django.setup()
    try:
        migrate()
    except LaunchError as exc:
        print(f"copilot: {exc}")
        return 1
    except Error as exc:
        print(f"copilot: The database can't be prepared: {' '.join(str(exc).split())}")
        return 1

    from django.core.management import CommandError, call_command

    call_command("ensure_demo")
    try:
        call_command("load_profiles")
    except CommandError as exc:
        # The stored versions go on working; the faults are told above.
        print(f"copilot: {exc}")
    return 0


def migrate() -> None:
    """Migrate if anything is missing, after a look and a copy."""
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    loader = executor.loader
    replaced = {key for one in loader.disk_migrations.values() for key in one.replaces}
    recorded = set(loader.applied_migrations)
    upgrade.refuse_newer(recorded, {*loader.disk_migrations, *replaced})

    plan = executor.migration_plan(loader.graph.leaf_nodes())
    if not plan:
        return
    if recorded and connection.vendor == "sqlite":
        copy = upgrade.back_up(
            Path(connection.settings_dict["NAME"]),
            Path(os.environ["DATA_DIR"]) / "backups",
        )
        print(f"Copied the database to {copy} before its upgrade")
    call_command("migrate", interactive=False, verbosity=0)
    print(f"Applied {len(plan)} migrations")


if __name__ == "__main__":
    sys.exit(main())
