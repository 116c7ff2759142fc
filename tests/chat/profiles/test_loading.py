"""Files become versions; what an operator edited stays."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from chat.agent.tools import TOOLS
from chat.profiles.active import ProfileUnknown, profile_for, profiles_of
from chat.profiles.models import Profile
from chat.profiles.schema import known_tools

SHIPPED = ("lab", "analyst", "campus", "teaching")


def definition(**changes: Any) -> dict[str, Any]:
    return {
        "slug": "tutor",
        "agent": "lab",
        "title": {"en": "Tutor"},
        "description": {"en": "Explains."},
        "prompt": "Explain to {user}. It is {date}.",
        "tools": {"read_topology": {}, "run_commands": {}},
        "approval": "never_change",
        **changes,
    }


def write(folder: Path, **changes: Any) -> Path:
    path = folder / f"{changes.get('slug', 'tutor')}.json"
    path.write_text(json.dumps(definition(**changes)))
    return path


@pytest.mark.django_db
def test_the_shipped_profiles_load_and_stand_side_by_side() -> None:
    call_command("load_profiles")

    assert tuple(one.name for one in profiles_of(None)) == SHIPPED
    assert {one.version for one in profiles_of(None)} == {1}
    for one in profiles_of(None):
        assert one.languages == ("en", "de", "zh-hans")


@pytest.mark.django_db
def test_a_database_without_profiles_takes_the_shipped_ones() -> None:
    assert profile_for(None).name == settings.DEFAULT_PROFILE == "lab"


def test_a_profile_may_name_every_tool_there_is() -> None:
    assert TOOLS.keys() <= set(known_tools())


@pytest.mark.django_db
def test_an_unchanged_file_adds_no_version(tmp_path: Path) -> None:
    path = write(tmp_path)

    call_command("load_profiles", str(path))
    call_command("load_profiles", str(path))

    assert Profile.objects.get(slug="tutor").versions.count() == 1


@pytest.mark.django_db
def test_a_changed_file_is_a_new_version_and_the_old_one_stays(tmp_path: Path) -> None:
    call_command("load_profiles", str(write(tmp_path)))
    call_command("load_profiles", str(write(tmp_path, prompt="Explain anew.")))

    assert profile_for("tutor").version == 2
    assert profile_for("tutor").prompt == "Explain anew."
    assert profile_for("tutor", version=1).prompt.startswith("Explain to")


@pytest.mark.django_db
def test_a_newer_file_does_not_replace_an_operators_edit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("load_profiles", str(write(tmp_path)))
    profile = Profile.objects.get(slug="tutor")
    edited = definition(prompt="As the operator wants it.")
    profile.use(profile.add_version(source="operator", definition=edited))

    call_command("load_profiles", str(write(tmp_path, prompt="From the file.")))

    assert "kept (an operator's version 2 is in use" in capsys.readouterr().out
    assert profile_for("tutor").prompt == "As the operator wants it."
    assert profile_for("tutor", version=3).prompt == "From the file."


@pytest.mark.django_db
def test_a_dry_run_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("load_profiles", str(write(tmp_path)), "--dry-run")

    assert "Profile tutor: created" in capsys.readouterr().out
    assert not Profile.objects.exists()


@pytest.mark.django_db
def test_one_bad_file_keeps_no_other_from_loading(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path)
    (tmp_path / "broken.json").write_text('{"slug": ')

    with pytest.raises(CommandError, match="1 of 2"):
        call_command("load_profiles", str(tmp_path))

    assert "broken.json: not loaded" in capsys.readouterr().err
    assert profile_for("tutor").title == "Tutor"


@pytest.mark.django_db
def test_a_folder_without_profiles_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=str(tmp_path)):
        call_command("load_profiles", str(tmp_path))


@pytest.mark.django_db
def test_the_sites_own_file_counts_before_the_shipped_one(
    tmp_path: Path, settings: Any
) -> None:
    settings.PROFILES_DIR = str(tmp_path)
    write(tmp_path, slug="lab", title={"en": "Ours"})

    call_command("load_profiles")
    call_command("load_profiles")

    assert (profile_for("lab").title, profile_for("lab").version) == ("Ours", 1)


@pytest.mark.django_db
def test_an_unknown_profile_names_those_there_are() -> None:
    with pytest.raises(ProfileUnknown, match="lab, analyst, campus, teaching"):
        profile_for("nobody")
