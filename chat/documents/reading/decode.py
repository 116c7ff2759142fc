"""Bytes → text, whatever the encoding; and whether they are text at all."""

import codecs
import re

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE = 65_536
_NOBODYS = re.compile("[\ue000-\uf8ff]")
# Tab, line feed, form feed, carriage return; ESC and backspace stand in logs.
_USUAL_CONTROLS = {8, 9, 10, 12, 13, 27}


def decoded(data: bytes) -> str:
    """Never fails: what fits no encoding is read as Latin-1."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        # What was cut off ends within a sign; without others before, it is another
        # encoding's accent.
        whole = data[: error.start]
        if error.reason == "unexpected end of data" and not whole.isascii():
            return whole.decode("utf-8")
    high = sum(byte >= 0x80 for byte in data[:_SAMPLE])
    # In European texts one letter in ten has an accent; in Chinese nearly every byte
    # is one of a pair.
    if high > len(data[:_SAMPLE]) * 0.3:
        try:
            chinese = data.decode("gb18030")
            # Signs that are nobody's: a few European letters in a row.
            if not _NOBODYS.search(chinese):
                return chinese
        except UnicodeDecodeError:
            pass
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def looks_like_text(data: bytes) -> bool:
    """No bytes that only programs write, or hardly any."""
    sample = data[:_SAMPLE]
    if any(sample.startswith(mark) for mark, _ in _BOMS[1:]):
        return True
    controls = sum(byte < 32 and byte not in _USUAL_CONTROLS for byte in sample)
    return b"\0" not in sample and controls * 200 <= len(sample)
