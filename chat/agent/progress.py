"""Lines of progress that tools show while they work: short, few, without secrets."""

import time
from collections.abc import Callable

from copilot_site.lib.secret_values import mask

_LONGEST = 200
_MOST = 60
_PAUSE = 0.25


class Progress:
    """Of one run. What comes too soon or too often is left out, never queued."""

    def __init__(
        self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._say, self._clock = say, clock
        self._last, self._at, self._count = "", -_PAUSE, 0

    def __call__(self, text: str) -> None:
        line = mask(" ".join(text.split()))[:_LONGEST]
        now = self._clock()
        is_new = bool(line) and line != self._last
        if not is_new or self._count >= _MOST or now - self._at < _PAUSE:
            return
        self._last, self._at, self._count = line, now, self._count + 1
        self._say(line)
