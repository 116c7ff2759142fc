"""Keys kept in files that only their owner can read."""

import os
import secrets
from pathlib import Path


def read_or_make(path: Path) -> str:
    """The key in the file; made once, readable by its owner only."""
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        pass
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    key = secrets.token_urlsafe(48)
    # Written beside and linked: of two processes that start at once, one wins whole.
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_text(key)
    try:
        os.link(draft, path)
    except FileExistsError:
        return path.read_text().strip()
    finally:
        draft.unlink()
    return key


def secret_of(value: str, file: str) -> str:
    """The value itself, or what stands in the file that the environment names."""
    return value or (Path(file).read_text().strip() if file else "")
