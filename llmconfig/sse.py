"""Server-sent events from a provider: bytes cut anywhere → the data of whole events.

Rules of the WHATWG standard: lines end with LF, CR LF or CR; lines of a comment start
with a colon; several data lines of one event are joined by LF. Beyond it, a line that
is a bare JSON object counts as data: some gateways put their errors in like that.
"""


class EventTooLarge(ValueError):
    """One event is larger than any provider sends in good faith."""


_LIMIT = 16 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"


class SSEDecoder:
    """Holds at most one unfinished event."""

    def __init__(self) -> None:
        # In pieces, so that a large event in small reads is not copied at each.
        self._rest: list[bytes] = []
        self._size = 0
        self._ends_with_cr = False
        self._is_start = True

    def feed(self, data: bytes) -> list[bytes]:
        """The data of the events that are whole now."""
        if b"\r" in data or self._ends_with_cr:
            data = self._with_lf_only(data)
        last = self._rest[-1] if self._rest else b""
        # The blank line may be cut in the middle.
        if b"\n\n" not in last[-1:] + data:
            self._keep(data)
            return []
        data = b"".join([*self._rest, data])
        end = data.rfind(b"\n\n")
        self._rest, self._size = [], 0
        self._keep(data[end + 2 :])
        return self._payloads(data[:end])

    def finish(self) -> list[bytes]:
        """What an end without the closing blank line left: taken if it is whole."""
        rest = b"".join(self._rest).strip(b"\n")
        self._rest, self._size = [], 0
        return self._payloads(rest) if rest else []

    def _keep(self, data: bytes) -> None:
        if data:
            self._rest.append(data)
            self._size += len(data)
        if self._size > _LIMIT:
            raise EventTooLarge

    def _payloads(self, events: bytes) -> list[bytes]:
        if self._is_start:
            self._is_start = False
            events = events.removeprefix(_BOM)
        return [
            payload
            for event in events.split(b"\n\n")
            if (payload := _data_of(event)) is not None
        ]

    def _with_lf_only(self, data: bytes) -> bytes:
        # A CR LF may be cut in the middle: the LF that follows belongs to the CR.
        if self._ends_with_cr and data:
            self._ends_with_cr = False
            data = data.removeprefix(b"\n")
        if data:
            self._ends_with_cr = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _data_of(event: bytes) -> bytes | None:
    """None for comments and events without data."""
    if event.startswith(b"data:") and b"\n" not in event:
        return event[6:] if event.startswith(b"data: ") else event[5:]
    lines = [
        line.removeprefix(b"data:").removeprefix(b" ")
        for line in event.split(b"\n")
        if line.startswith((b"data:", b"{"))
    ]
    return b"\n".join(lines) if lines else None
