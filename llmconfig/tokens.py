"""How many tokens a text will be, without a tokenizer. Rather too many than too few.

Tokenizers cut text into runs of one kind before they look anything up, and so does this
rule. Its weights were fitted to cl100k and o200k; digits count one by one, as in Qwen.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from llmconfig.deltas import text_of
from llmconfig.payload import RAW_ARGUMENTS, REASONING

# What a chat template adds to each message, call and tool.
MESSAGE_TOKENS = 4
_CALL_TOKENS = 8
_TOOL_TOKENS = 8

# One byte a character: its kind. Of several bytes only the first remains.
_CONTINUATION = bytes(range(0x80, 0xC0))


def _kind(byte: int) -> str:
    char = chr(byte)
    if byte >= 0x80:
        return "2" if byte < 0xE0 else "3" if byte < 0xF0 else "4"
    if char.isalpha():
        return "A" if char.isupper() else "a"
    if char.isdigit():
        return "0"
    if char in " \n\t":
        return " " if char == " " else "n"
    return "!"


def _only(kinds: str) -> bytes:
    """A table that leaves runs of these kinds, for bytes.split()."""
    return bytes(byte if chr(byte) in kinds else 0x20 for byte in range(256))


_KINDS = "".join(map(_kind, range(256))).encode()
_DELETED = _CONTINUATION + b"\r"
_WORDS, _MARKS = _only("aA"), _only("!")
_GAPS = bytes(0x20 if byte == 0x20 else 0x78 for byte in range(256))


def estimate(text: str) -> int:
    """Linear, by bytes methods alone: they run at the speed of memory."""
    data = text.encode("utf-8", "surrogatepass").translate(_KINDS, _DELETED)
    words = Counter(map(len, data.translate(_WORDS).split()))
    total = sum(_word(length) * count for length, count in words.items())
    # camelCase and CAPITALS are cut more often than lower case.
    total += data.count(b"aA") + 0.7 * data.count(b"AA")
    total += data.count(b"0") + data.count(b"n")
    total += 0.4 * len(data.translate(_MARKS).split()) + 0.6 * data.count(b"!")
    # One space belongs to the word behind it.
    total += data.translate(_GAPS).count(b"  x") + data.count(b" " * 16)
    total += 0.95 * data.count(b"2") + 1.4 * data.count(b"3") + 3 * data.count(b"4")
    return math.ceil(total)


def _word(length: int) -> float:
    return 1 + max(0, length - 6) / 5


def estimate_message(message: AnyMessage, *, sends_reasoning: bool = False) -> int:
    """As `llmconfig.payload` sends it."""
    total = MESSAGE_TOKENS + estimate(text_of(message.content))
    match message:
        case AIMessage():
            raw = message.additional_kwargs.get(RAW_ARGUMENTS, {})
            for call in message.tool_calls:
                call_id = call["id"] or ""
                arguments = raw.get(call_id) or _dumped(call["args"])
                written = (call["name"], arguments, call_id)
                total += _CALL_TOKENS + sum(map(estimate, written))
            if sends_reasoning:
                total += estimate(str(message.additional_kwargs.get(REASONING) or ""))
        case ToolMessage():
            total += estimate(message.tool_call_id)
    return total


def estimate_messages(
    messages: Iterable[AnyMessage], *, sends_reasoning: bool = False
) -> int:
    """The sum over the messages: dropping one saves just what it counts."""
    return sum(
        estimate_message(message, sends_reasoning=sends_reasoning)
        for message in messages
    )


def estimate_tools(tools: Sequence[dict[str, Any]]) -> int:
    """Of tool schemas in OpenAI's form."""
    return sum(_TOOL_TOKENS + _estimate_again(_dumped(tool)) for tool in tools)


# The same few at every call, and milliseconds to count.
_estimate_again = lru_cache(maxsize=256)(estimate)


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
