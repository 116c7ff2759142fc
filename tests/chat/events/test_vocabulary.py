import orjson
import pytest

from chat.events.vocabulary import (
    EVENT_TYPES,
    Content,
    Done,
    ToolEnded,
    UsageReported,
    encode,
)

HEAD = {"seq": 3, "attempt": 1}


def test_the_vocabulary_has_the_seeds_events_and_ours() -> None:
    assert set(EVENT_TYPES) >= {
        *("attempt", "message", "content", "reasoning", "tool_call", "tool_start"),
        *("tool_end", "status", "log", "usage", "title", "approval_required"),
        *("approval_resolved", "error", "stopped", "done", "snapshot"),
    }


def test_an_event_is_one_flat_object() -> None:
    event = orjson.loads(encode(Content("Hi", "m"), HEAD))

    assert event == {"type": "content", **HEAD, "content": "Hi", "message_id": "m"}


def test_fields_without_a_value_are_left_out() -> None:
    assert b"elapsed_ms" not in encode(ToolEnded("f", "a", "", "ok"), HEAD)
    assert b"usage" not in encode(Done("stopped", "user"), HEAD)


@pytest.mark.parametrize("tokens", [None, 0, 5])
def test_unknown_tokens_are_null_and_zero_is_zero(tokens: int | None) -> None:
    data = encode(UsageReported("m", "chat", tokens, tokens, tokens), HEAD)

    assert orjson.loads(data)["input_tokens"] == tokens


@pytest.mark.parametrize("text", ["\n\n", "\r", "\u2028", "data: x", "\x00", "😀"])
def test_no_text_breaks_a_frame(text: str) -> None:
    data = encode(Content(text, "m"), HEAD)

    assert b"\n" not in data
    assert b"\r" not in data
    assert orjson.loads(data)["content"] == text
