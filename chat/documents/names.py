"""A file's name as a person sees it; it never becomes a path."""

import re
import unicodedata

# Invisible signs could make a name look like another.
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_LENGTH = 200


def safe_name(name: str) -> str:
    """The last part of a path, in one line, without signs of control."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    seen = "".join(
        " " if unicodedata.category(sign) in _INVISIBLE else sign for sign in last
    )
    seen = " ".join(seen.split()).lstrip(". ").strip()
    if len(seen) > _LENGTH:
        stem, dot, suffix = seen.rpartition(".")
        short = suffix if dot and len(suffix) <= 10 else ""
        seen = (
            f"{(stem or seen)[: _LENGTH - len(short) - 1]}{'.' if short else ''}{short}"
        )
    return seen or "document"
