"""What the parts promise each other."""

import importlib
import pkgutil
import re
from io import StringIO
from types import ModuleType

import pytest
from django.core.management import call_command

import chat
import copilot_site
import llmconfig
import projects
from chat.events.vocabulary import EVENT_TYPES, Done, Event, encode
from chat.models.run import ACTIVE, EXECUTING, FINISHED, Status
from copilot_site.lib.errors import UserFacingError


def every_error() -> list[type[UserFacingError]]:
    def below(kind: type[UserFacingError]) -> list[type[UserFacingError]]:
        return [kind, *(each for sub in kind.__subclasses__() for each in below(sub))]

    packages: list[ModuleType] = [chat, copilot_site, llmconfig, projects]
    for package in packages:
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if ".migrations" not in module.name:
                importlib.import_module(module.name)
    return [each for each in below(UserFacingError) if "tests" not in each.__module__]


def test_every_error_has_a_code_and_a_status_of_an_error() -> None:
    errors = every_error()

    assert len(errors) > 20
    for error in errors:
        assert re.fullmatch(r"[a-z][a-z0-9_]+", error.code), error
        assert 400 <= error.status < 600, error


def test_every_status_of_a_run_is_waiting_active_or_finished() -> None:
    assert {Status.PENDING, *ACTIVE, *FINISHED} == set(Status)
    assert set(EXECUTING) < set(ACTIVE)
    assert not set(ACTIVE) & set(FINISHED)


def test_event_types_are_unique_words() -> None:
    # By name: a class with slots is made twice.
    assert len(EVENT_TYPES) == len({kind.__name__ for kind in Event.__subclasses__()})
    assert all(re.fullmatch(r"[a-z_]+", name) for name in EVENT_TYPES)


def test_the_type_comes_first_so_that_done_is_found_without_parsing() -> None:
    data = encode(Done("succeeded", ""), {"seq": 1, "attempt": 1})

    assert data.startswith(b'{"type":"done"')


@pytest.mark.django_db
def test_no_migration_is_missing() -> None:
    call_command("makemigrations", check=True, dry_run=True, stdout=StringIO())
