"""Secrets that this process has held in clear, so that any text can be masked."""

import re
import threading
from collections import OrderedDict

MASK = "••••"
_LIMIT = 5_000
# Shorter values would mask ordinary words.
_SHORTEST = 6
# What people enter where a server wants some key; also ordinary words.
_DUMMIES = frozenset({"ollama", "lm-studio", "not-needed", "nokey", "no-key"})

_known: OrderedDict[str, None] = OrderedDict()
# Taken again by its own thread when the garbage collector closes something that logs.
_lock = threading.RLock()
_pattern: re.Pattern[str] | None = None

# Key shapes of common providers, and anything sent as a bearer token.
_SHAPES = re.compile(
    r"\bsk-[A-Za-z0-9_\-*]{8,}|\bcopilot_[A-Za-z0-9_\-]{20,}"
    r"|(?<=[Bb]earer )[A-Za-z0-9._~+/=\-]{8,}"
    r"|\beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]+"
)


def remember(secret: str) -> str:
    """From now on `mask` hides this value; returns it unchanged."""
    global _pattern
    if len(secret) >= _SHORTEST and secret.lower() not in _DUMMIES:
        with _lock:
            if secret in _known:
                _known.move_to_end(secret)
                return secret
            _known[secret] = None
            if len(_known) > _LIMIT:
                _known.popitem(last=False)
            _pattern = None
    return secret


def mask(text: str) -> str:
    """The text without any known secret and without anything shaped like one."""
    global _pattern
    with _lock:
        if _pattern is None and _known:
            longest_first = sorted(_known, key=len, reverse=True)
            _pattern = re.compile("|".join(map(re.escape, longest_first)))
        pattern = _pattern
    if pattern is not None:
        text = pattern.sub(MASK, text)
    return _SHAPES.sub(MASK, text)
