"""Makes what a first start needs: logins, the lab's server, a model, a campus."""

import os
import secrets
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand

from chat.datasources.example import ensure_example
from chat.demo.loading import load_campus
from llmconfig.models import LLMConfig
from projects.models import Role, Server

SIMULATED = "Simulated lab"
ENVIRONMENT = "Environment"


class Command(BaseCommand):
    help = (
        "Create the users demo and admin, the server and the model that the "
        "environment names. Running it again changes no password."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        made = {}
        for name, is_admin in (("demo", False), ("admin", True)):
            if password := _ensure_user(name, is_admin=is_admin):
                made[name] = password
        if made:
            _keep(settings.DATA_DIR / "credentials", made)
        _ensure_server()
        _ensure_model()
        if settings.DEMO_CAMPUS:
            load_campus()
            ensure_example()


def _ensure_user(name: str, *, is_admin: bool) -> str | None:
    """The password if the user is new, else None."""
    users = get_user_model().objects
    if users.filter(username=name).exists():
        return None
    password = os.environ.get(f"{name.upper()}_PASSWORD") or secrets.token_urlsafe(9)
    make = users.create_superuser if is_admin else users.create_user
    make(username=name, password=password)
    return password


def _keep(path: Path, made: dict[str, str]) -> None:
    """Readable by the owner only; lines `user password`."""
    known = dict(line.split(" ", 1) for line in _lines(path))
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    lines = [f"{name} {word}\n" for name, word in {**known, **made}.items()]
    path.write_text("".join(lines))


def _lines(path: Path) -> list[str]:
    if not path.exists():
        return []
    return [line for line in path.read_text().splitlines() if " " in line]


def _ensure_server() -> None:
    """The address and account come from the environment at each start."""
    if settings.GNS3_URL:
        Server.objects.filter(name=SIMULATED).update(is_enabled=False)
        account = {
            "username": settings.GNS3_USERNAME,
            "password": settings.GNS3_PASSWORD,
            "is_enabled": True,
        }
        # Found by its address: an operator may have named it otherwise.
        Server.objects.update_or_create(
            url=settings.GNS3_URL.rstrip("/"),
            defaults=account,
            create_defaults={**account, "name": "GNS3", "default_role": Role.ENGINEER},
        )
    elif settings.DEMOLAB_URL:
        Server.objects.update_or_create(
            name=SIMULATED,
            defaults={
                "url": settings.DEMOLAB_URL.rstrip("/"),
                "username": settings.DEMOLAB_USERNAME,
                "password": settings.DEMOLAB_PASSWORD,
                "is_simulated": True,
                "is_enabled": True,
                "default_role": Role.ENGINEER,
            },
        )


def _ensure_model() -> None:
    if not settings.LLM_BASE_URL:
        LLMConfig.objects.filter(name=ENVIRONMENT, user=None, group=None).update(
            is_enabled=False
        )
        return
    LLMConfig.objects.update_or_create(
        name=ENVIRONMENT,
        user=None,
        group=None,
        defaults={
            "base_url": settings.LLM_BASE_URL,
            "model": settings.LLM_MODEL,
            "api_key": settings.LLM_API_KEY,
            "is_default": True,
            "is_enabled": True,
        },
    )
