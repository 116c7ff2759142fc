"""However the network cuts the byte stream, the screen shows the same."""

import codecs
from collections.abc import Iterable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from projects.consoles.screen import LONGEST_LINE, Screen
from projects.consoles.telnet import LONGEST_SUBNEGOTIATION, TelnetStream

PIECES = [
    b"PC1> show ip\r\n",
    b"\r\r\n",
    b"\n\rVPCS> ",
    b"IP/MASK     : 10.0.0.1/24\r\n",
    "Größe → 東京 🙂\r\n".encode(),
    "é".encode()[:1],
    b" --More-- ",
    b"\x08" * 10,
    b"\b \b",
    b"\r          \r",
    b"\t",
    b"\x00\x07",
    b"\x1b[1mbold\x1b[0m",
    b"\x1b[c",
    b"\x1b[9999B",
    b"\x1b[K",
    b"\x1b[2K",
    b"\x1b[3D",
    b"\x1b[2C",
    b"\x1b[5G",
    b"\x1b(B",
    b"\x1b]0;title\x07",
    b"\x1b]0;title\x1b\\",
    b"\x1b",
    b"\x1b[1",
    b"\xff\xfb\x01",
    b"\xff\xfd\x03",
    b"\xff\xfb\x01\xff\xfb\x03\xff\xfb\x00\xff\xfd\x00",
    b"\xff\xfa\x18\x01\xff\xff\xff\xf0",
    b"\xff\xff",
    b"\xff\xf1",
    b"\xff",
]

streams = st.lists(
    st.one_of(st.sampled_from(PIECES), st.binary(max_size=6)), max_size=20
).map(b"".join)


def show(chunks: Iterable[bytes]) -> tuple[list[str], str, bool, bytes]:
    """What the driver does with what it reads."""
    telnet, screen = TelnetStream(), Screen(200)
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    replies = b""
    for chunk in chunks:
        data, answer = telnet.feed(chunk)
        replies += answer
        screen.feed(decoder.decode(data))
    return screen.lines, screen.tail, screen.is_truncated, replies


def cut(stream: bytes, places: Sequence[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(stream) + 1) for place in places), len(stream)]
    return [stream[a:b] for a, b in zip(edges, edges[1:], strict=False)]


@given(streams, st.lists(st.integers(min_value=0), max_size=30))
def test_any_chunking_shows_the_same(stream: bytes, places: list[int]) -> None:
    assert show(cut(stream, places)) == show([stream])


@given(streams)
def test_byte_by_byte_shows_the_same(stream: bytes) -> None:
    assert show(bytes([byte]) for byte in stream) == show([stream])


@given(streams)
def test_no_control_character_is_ever_shown(stream: bytes) -> None:
    lines, tail, _, _ = show([stream])

    shown = "".join([*lines, tail])
    assert all(character.isprintable() or ord(character) > 159 for character in shown)


@given(streams)
def test_every_option_is_answered_at_most_once(stream: bytes) -> None:
    *_, replies = show([stream, stream, stream])

    answers = [replies[at : at + 3] for at in range(0, len(replies), 3)]
    assert len(answers) == len(set(answers))


def test_line_reads_as_on_a_terminal() -> None:
    lines, tail, _, _ = show([b"abc\x08\x08\x08xyz\r\nlong\rsh\x1b[K\r\nPC1> "])

    assert (lines, tail) == (["xyz", "sh"], "PC1> ")


def test_endless_line_and_huge_cursor_moves_are_bounded() -> None:
    screen = Screen(100_000)

    screen.feed("x" * 100_000 + "\x1b[999999999C" + "y\x1b[" + "9" * 10_000 + "Cz")

    assert len(screen.tail) <= LONGEST_LINE
    assert screen.is_truncated


def test_subnegotiation_that_never_ends_does_not_mute_the_console() -> None:
    telnet = TelnetStream()

    data, _ = telnet.feed(b"\xff\xfa" + b"x" * (2 * LONGEST_SUBNEGOTIATION) + b"PC1> ")

    assert data.endswith(b"PC1> ")


def test_lines_beyond_the_limit_are_dropped_but_the_prompt_is_seen() -> None:
    screen = Screen(10)

    screen.feed("123456\n789012\n345\nPC1> ")

    assert (screen.lines, screen.tail) == (["123456", "789"], "PC1> ")
    assert screen.is_truncated
