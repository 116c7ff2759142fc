"""A site of its own with the collections of the set; nothing but SQLite runs."""

import os
from pathlib import Path

from bench.grounding.questions import documents
from scripts.stages import clean_environ


def open_site(folder: Path) -> None:
    """Made where it is not there yet. Call it before anything of Django's is used."""
    environ = clean_environ(os.environ, str(folder)) | {
        "DJANGO_SETTINGS_MODULE": "copilot_site.settings",
        "SECRET_KEY": "of-the-bench-alone-and-long-enough-for-hmac",
        "ENCRYPTION_KEYS": "ring-key-of-the-bench-alone-0123456789",
        "REDIS_URL": f"unix://{folder}/nobody.sock?db=0",
        "LOG_LEVEL": "ERROR",
    }
    os.environ.clear()
    os.environ.update(environ)
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)
    _load()


def _load() -> None:
    from chat.documents import wake
    from chat.knowledge.ingest import add_document
    from chat.knowledge.models import Collection

    # There is no worker that could be told.
    wake._submit = lambda task: None
    for name, file in documents():
        collection, _ = Collection.objects.get_or_create(
            name=name, scope=Collection.Scope.SITE
        )
        document = add_document(collection, file.name, file.read_bytes())
        assert document.state == document.State.READY, (name, document.error)
