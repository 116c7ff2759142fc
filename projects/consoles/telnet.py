"""Takes telnet commands out of a byte stream; each option is answered only once.

GNS3's console server repeats its offers for as long as they are answered, so a client
that answers every time talks to it for ever.
"""

from enum import Enum

IAC, DONT, DO, WONT, WILL, SB, SE = 255, 254, 253, 252, 251, 250, 240
BINARY, ECHO, SUPPRESS_GO_AHEAD = 0, 1, 3

# The other side may echo, we never do.
WELCOME_THERE = {BINARY, ECHO, SUPPRESS_GO_AHEAD}
WELCOME_HERE = {BINARY, SUPPRESS_GO_AHEAD}

# A subnegotiation longer than this is not one: a stray byte must not mute a console.
LONGEST_SUBNEGOTIATION = 1024


class _State(Enum):
    DATA = 1
    COMMAND = 2
    OPTION = 3
    SUBNEGOTIATION = 4
    SUBNEGOTIATION_COMMAND = 5


class TelnetStream:
    """Byte stream in; plain data and the replies to send out."""

    def __init__(self) -> None:
        self._state = _State.DATA
        self._verb = 0
        self._skipped = 0
        self._answered: set[tuple[int, int]] = set()

    def feed(self, received: bytes) -> tuple[bytes, bytes]:
        data, replies = bytearray(), bytearray()
        position = 0
        while position < len(received):
            if self._state is _State.DATA:
                end = received.find(IAC, position)
                end = len(received) if end < 0 else end
                data += received[position:end]
                position = end
                if position == len(received):
                    break
                self._state = _State.COMMAND
            else:
                self._step(received[position], data, replies)
            position += 1
        return bytes(data), bytes(replies)

    def _step(self, byte: int, data: bytearray, replies: bytearray) -> None:
        match self._state:
            case _State.COMMAND:
                self._state = self._command(byte, data)
            case _State.OPTION:
                replies += self._answer(byte)
                self._state = _State.DATA
            case _State.SUBNEGOTIATION:
                self._skipped += 1
                if byte == IAC:
                    self._state = _State.SUBNEGOTIATION_COMMAND
                elif self._skipped > LONGEST_SUBNEGOTIATION:
                    self._state = _State.DATA
            case _State.SUBNEGOTIATION_COMMAND:
                is_escaped = byte == IAC
                self._state = _State.SUBNEGOTIATION if is_escaped else _State.DATA

    def _command(self, byte: int, data: bytearray) -> _State:
        if byte in (DO, DONT, WILL, WONT):
            self._verb = byte
            return _State.OPTION
        if byte == SB:
            self._skipped = 0
            return _State.SUBNEGOTIATION
        if byte == IAC:
            data.append(IAC)
        return _State.DATA

    def _answer(self, option: int) -> bytes:
        key = (self._verb, option)
        if self._verb in (DONT, WONT) or key in self._answered:
            return b""
        self._answered.add(key)
        if self._verb == WILL:
            return bytes([IAC, DO if option in WELCOME_THERE else DONT, option])
        return bytes([IAC, WILL if option in WELCOME_HERE else WONT, option])
