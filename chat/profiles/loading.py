"""Files → versions: unchanged ones add nothing, an operator's edit is not replaced."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from chat.profiles.definition import ProfileInvalid, parse
from chat.profiles.models import Profile, ProfileVersion
from copilot_site.lib.errors import UserFacingError

_SIZE = 1024 * 1024
Source = ProfileVersion.Source


class ProfilesMissing(UserFacingError):
    code = "profiles_missing"


@dataclass(frozen=True, slots=True)
class Loaded:
    """What became of one file."""

    slug: str
    outcome: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that cannot be loaded, and why."""

    path: Path
    faults: list[str]


def shipped_files() -> list[Path]:
    """Ours, then the site's own; of one slug the site's own counts."""
    own = settings.PROFILES_DIR
    return [
        *_files(settings.BASE_DIR / "profiles"),
        *(_files(Path(own)) if own else []),
    ]


def files_of(path: Path) -> list[Path]:
    """A file, or all in a folder. Raises ProfilesMissing."""
    found = [path] if path.is_file() else _files(path)
    if not found:
        raise ProfilesMissing(f"There is no profile at {path}.")
    return found


def load(paths: list[Path], *, is_dry: bool = False) -> list[Loaded | Refused]:
    """Each file by itself; one that is refused keeps no other from being loaded."""
    definitions: dict[str, dict[str, Any]] = {}
    refused: list[Loaded | Refused] = []
    for path in paths:
        try:
            definition = _read(path)
        except ProfileInvalid as error:
            refused.append(Refused(path, error.faults))
        else:
            definitions[definition["slug"]] = definition
    return [*refused, *_store_all(definitions, is_dry=is_dry)]


def _store_all(
    definitions: dict[str, dict[str, Any]], *, is_dry: bool
) -> Iterator[Loaded]:
    for slug, definition in definitions.items():
        with transaction.atomic():
            yield _store(slug, definition, is_dry=is_dry)


def _store(slug: str, definition: dict[str, Any], *, is_dry: bool) -> Loaded:
    profile = Profile.objects.select_for_update().filter(slug=slug).first()
    if profile is None:
        if not is_dry:
            _create(slug, definition)
        return Loaded(slug, "created")
    current = profile.current
    from_file = profile.versions.filter(source=Source.FILE).first()
    if from_file is not None and from_file.definition == definition:
        return Loaded(slug, "unchanged", _kept_note(current, from_file))
    is_edited = current.source != Source.FILE
    if is_dry:
        return Loaded(slug, "kept" if is_edited else "updated")
    version = profile.add_version(source=Source.FILE, definition=definition)
    if is_edited:
        return Loaded(slug, "kept", _kept_note(current, version))
    profile.use(version)
    return Loaded(slug, "updated", f"now version {version.number}")


def _create(slug: str, definition: dict[str, Any]) -> None:
    profile = Profile.objects.create(slug=slug)
    profile.use(profile.add_version(source=Source.FILE, definition=definition))


def newer_file(profile: Profile) -> ProfileVersion | None:
    """The file's newest version, where an operator's older edit is in use."""
    current = profile.current
    if current.source == Source.FILE:
        return None
    newest = profile.versions.filter(source=Source.FILE).first()
    return newest if newest and newest.number > current.number else None


def _kept_note(current: ProfileVersion, from_file: ProfileVersion) -> str:
    if current.source == Source.FILE:
        return ""
    note = f"an operator's version {current.number} is in use"
    if from_file.number > current.number:
        note += f"; the file's is version {from_file.number}: compare in the admin"
    return note


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            raw = file.read(_SIZE + 1)
        if len(raw) > _SIZE:
            raise ProfileInvalid([f"The file is larger than {_SIZE} bytes."])
        return parse(raw.decode())
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileInvalid([f"The file cannot be read: {error}"]) from None


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.json") if path.name != "schema.json")
