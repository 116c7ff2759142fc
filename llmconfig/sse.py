"""Server-sent events from a provider: bytes cut anywhere → the data of whole events.

Rules of the WHATWG standard: lines end with LF, CR LF or CR; lines of a comment start
with a colon; several data lines of one event are joined by LF.
"""


class EventTooLarge(ValueError):
    """One event is larger than any provider sends in good faith."""


_LIMIT = 16 * 1024 * 1024


class SSEDecoder:
    """Holds at most one unfinished event."""

    def __init__(self) -> None:
        self._rest = b""
        self._ends_with_cr = False

    def feed(self, data: bytes) -> list[bytes]:
        """The data of the events that are whole now."""
        if b"\r" in data or self._ends_with_cr:
            data = self._with_lf_only(data)
        if self._rest:
            data = self._rest + data
        end = data.rfind(b"\n\n")
        if end < 0:
            if len(data) > _LIMIT:
                raise EventTooLarge
            self._rest = data
            return []
        self._rest = data[end + 2 :]
        return [
            payload
            for event in data[:end].split(b"\n\n")
            if (payload := _data_of(event)) is not None
        ]

    def finish(self) -> list[bytes]:
        """What an end without the closing blank line left: taken if it is whole."""
        rest, self._rest = self._rest.strip(b"\n"), b""
        payload = _data_of(rest) if rest else None
        return [] if payload is None else [payload]

    def _with_lf_only(self, data: bytes) -> bytes:
        # A CR LF may be cut in the middle: the LF that follows belongs to the CR.
        if self._ends_with_cr and data.startswith(b"\n"):
            data = data[1:]
        if data:
            self._ends_with_cr = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _data_of(event: bytes) -> bytes | None:
    """None for comments and events without data."""
    if event.startswith(b"data:") and b"\n" not in event:
        return event[6:] if event.startswith(b"data: ") else event[5:]
    lines = [
        line[6:] if line.startswith(b"data: ") else line[5:]
        for line in event.split(b"\n")
        if line.startswith(b"data:")
    ]
    return b"\n".join(lines) if lines else None
