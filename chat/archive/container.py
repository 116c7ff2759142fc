"""One zip file with a manifest of sizes and checksums, written and read as a stream."""

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import IO, Any
from uuid import UUID

from django.utils import timezone

from chat.archive.errors import ArchiveDamaged, ArchiveRefused

MANIFEST = "manifest.json"
VERSION = 1
_BLOCK = 1024 * 1024
_LONGEST_LINE = 64 * 1024 * 1024
_LARGEST_MANIFEST = 16 * 1024 * 1024
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 1


@dataclass(frozen=True)
class PartInfo:
    """What the manifest promises of a part."""

    size: int
    sha256: str
    lines: int | None = None


class Writer:
    """Adds parts; the manifest comes last, when their checksums are known."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.parts: dict[str, PartInfo] = {}

    def add_lines(self, name: str, rows: Iterable[dict[str, Any]]) -> int:
        """One JSON object a line; returns their number."""
        digest, size, number = hashlib.sha256(), 0, 0
        with self._archive.open(name, "w", force_zip64=True) as part:
            for row in rows:
                text = json.dumps(row, ensure_ascii=False, default=_plain)
                # Half a character has no UTF-8; it becomes a question mark.
                line = text.encode(errors="replace") + b"\n"
                part.write(line)
                digest.update(line)
                size, number = size + len(line), number + 1
        self.parts[name] = PartInfo(size, digest.hexdigest(), number)
        return number

    def add_file(self, name: str, path: Path) -> None:
        digest, size = hashlib.sha256(), 0
        with (
            path.open("rb") as file,
            self._archive.open(name, "w", force_zip64=True) as part,
        ):
            while block := file.read(_BLOCK):
                part.write(block)
                digest.update(block)
                size += len(block)
        self.parts[name] = PartInfo(size, digest.hexdigest())

    def finish(self, kind: str, about: dict[str, Any]) -> None:
        manifest = {
            "format": kind,
            "version": VERSION,
            "created_at": timezone.now().isoformat(),
            **about,
            "parts": {name: vars(info) for name, info in self.parts.items()},
        }
        text = json.dumps(manifest, ensure_ascii=False, indent=2)
        self._archive.writestr(MANIFEST, text)


@contextmanager
def writing(path: Path, kind: str, about: dict[str, Any]) -> Iterator[Writer]:
    """The file appears whole or not at all, readable by its owner only."""
    if path.exists():
        raise ArchiveRefused(f"{path} exists already.")
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        file = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as exc:
        raise ArchiveRefused(f"{path} can't be written: {exc.strerror}.") from exc
    try:
        with (
            os.fdopen(file, "w+b") as stream,
            zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            writer = Writer(archive)
            yield writer
            writer.finish(kind, about)
        os.replace(draft, path)
    except OSError as exc:
        raise ArchiveRefused(f"{path} can't be written: {exc.strerror}.") from exc
    finally:
        draft.unlink(missing_ok=True)


class Reader:
    """A file whose shape has been checked; `verify` checks what is in it."""

    def __init__(self, archive: zipfile.ZipFile, manifest: dict[str, Any]) -> None:
        self._archive = archive
        self.manifest = manifest
        self.parts = _parts_of(manifest)

    def verify(self) -> None:
        """Raises ArchiveDamaged unless every part is as the manifest says."""
        for name, info in self.parts.items():
            digest, size = hashlib.sha256(), 0
            with self._open(name) as part:
                while block := _read(part, name):
                    digest.update(block)
                    size += len(block)
            if (size, digest.hexdigest()) != (info.size, info.sha256):
                raise ArchiveDamaged(f"{name} does not match its checksum.")

    def lines(self, name: str) -> Iterator[dict[str, Any]]:
        """The objects of a part, one at a time."""
        with self._open(name) as part:
            number = 0
            while line := _read_line(part, name):
                number += 1
                yield _object(line, f"{name}, line {number}")
        if number != self.parts[name].lines:
            raise ArchiveDamaged(f"{name} does not have the lines it should have.")

    def extract(self, name: str, target: Path) -> None:
        """Into a new file that its owner alone can read."""
        file = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "wb") as copy, self._open(name) as part:
            while block := _read(part, name):
                copy.write(block)

    def _open(self, name: str) -> IO[bytes]:
        try:
            return self._archive.open(name)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as exc:
            raise ArchiveDamaged(f"{name} can't be read.") from exc


@contextmanager
def reading(path: Path, kind: str, *, size_limit: int) -> Iterator[Reader]:
    """Raises ArchiveDamaged if it is not ours, ArchiveRefused if it is too big."""
    try:
        archive = zipfile.ZipFile(path)
    except OSError as exc:
        raise ArchiveRefused(f"{path} can't be read: {exc.strerror}.") from exc
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as exc:
        raise ArchiveDamaged(f"{path.name} is no archive, or damaged.") from exc
    with archive:
        members = {one.filename: one for one in archive.infolist()}
        if len(members) != len(archive.infolist()):
            raise ArchiveDamaged("The archive holds two parts of one name.")
        for one in members.values():
            if one.compress_type not in _METHODS or one.flag_bits & _ENCRYPTED:
                raise ArchiveDamaged("The archive is packed in a way that is not read.")
        if sum(one.file_size for one in members.values()) > size_limit:
            raise ArchiveRefused(
                f"Unpacked, the archive is larger than {size_limit:,} bytes."
            )
        reader = Reader(archive, _manifest_of(archive, kind))
        if {*reader.parts, MANIFEST} != set(members):
            raise ArchiveDamaged("The archive does not hold what its manifest lists.")
        yield reader


def _plain(value: Any) -> str:
    # Django's own encoder cuts microseconds off.
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, UUID | Decimal):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _manifest_of(archive: zipfile.ZipFile, kind: str) -> dict[str, Any]:
    damaged = ArchiveDamaged(f"The file is no {kind.replace('-', ' ')}.")
    try:
        with archive.open(MANIFEST) as part:
            text = part.read(_LARGEST_MANIFEST + 1)
    except (KeyError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as exc:
        raise damaged from exc
    if len(text) > _LARGEST_MANIFEST:
        raise damaged
    manifest = _object(text, "The manifest")
    if manifest.get("format") != kind:
        raise damaged
    if manifest.get("version") != VERSION:
        raise ArchiveRefused("The archive was made by a newer version.")
    return manifest


def _parts_of(manifest: dict[str, Any]) -> dict[str, PartInfo]:
    found: dict[str, PartInfo] = {}
    parts = manifest.get("parts")
    for name, info in parts.items() if isinstance(parts, dict) else ():
        match info:
            case {"size": int(size), "sha256": str(digest), "lines": int() | None}:
                found[name] = PartInfo(size, digest, info["lines"])
            case _:
                raise ArchiveDamaged("The manifest is damaged.")
    return found


def _read(part: IO[bytes], name: str) -> bytes:
    try:
        return part.read(_BLOCK)
    except (zipfile.BadZipFile, zlib.error, EOFError) as exc:
        raise ArchiveDamaged(f"{name} is damaged.") from exc


def _read_line(part: IO[bytes], name: str) -> bytes:
    try:
        line = part.readline(_LONGEST_LINE)
    except (zipfile.BadZipFile, zlib.error, EOFError) as exc:
        raise ArchiveDamaged(f"{name} is damaged.") from exc
    if line and not line.endswith(b"\n"):
        raise ArchiveDamaged(f"A line of {name} is cut short or too long.")
    return line


def _object(text: bytes, where: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise ArchiveDamaged(f"{where} is no JSON.") from exc
    if not isinstance(found, dict):
        raise ArchiveDamaged(f"{where} is no JSON object.")
    return found
