"""One piece of a model's answer, whichever server it comes from.

Servers differ in what they leave out, repeat or set to null. All of that ends here:
what is not of the expected kind is as if it were not there.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

HIGH = ("\ud800", "\udbff")
LOW = ("\udc00", "\udfff")
# What the columns for it hold.
LONGEST_REASON = 64
# Larger numbers are no counts of tokens, and no column holds them.
_MOST_TOKENS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call as the provider last reported them; None: unknown."""

    input_tokens: int | None = None
    output_tokens: int | None = None

    @property
    def total_tokens(self) -> int | None:
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens

    def updated(self, newer: "Usage") -> "Usage":
        """The last report counts, as some are running totals; unknown tells nothing."""
        read, written = newer.input_tokens, newer.output_tokens
        return Usage(
            self.input_tokens if read is None else read,
            self.output_tokens if written is None else written,
        )


@dataclass(frozen=True, slots=True)
class CallPart:
    """A fragment of a tool call; `extra` holds fields that only its provider knows."""

    index: int | None = None
    id: str = ""
    name: str = ""
    arguments: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Delta:
    """What one read of the stream has brought."""

    text: str = ""
    reasoning: str = ""
    calls: list[CallPart] = field(default_factory=list)
    finish_reason: str = ""
    usage: Usage | None = None
    # A whole message at once, not what is new since the last piece.
    is_whole: bool = False

    def is_text_only(self) -> bool:
        return not (self.reasoning or self.calls or self.finish_reason or self.usage)

    def says_something(self) -> bool:
        return bool(self.text or self.reasoning or self.calls)


def delta_of(payload: dict[str, Any]) -> Delta:
    """From one chunk of a streamed chat completion."""
    delta = Delta(usage=_usage(payload.get("usage")))
    choices = payload.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return delta
    choice = choices[0]
    body = choice.get("delta")
    if body is None and "message" in choice:
        # A server that ignores stream=true, or repeats the whole answer at its end.
        body, delta.is_whole = choice["message"], True
    if isinstance(body, dict):
        content = body.get("content")
        delta.text = text_of(content) or _text(body.get("refusal"))
        delta.reasoning = (
            _text(body.get("reasoning_content"))
            or _text(body.get("reasoning"))
            or _thinking_of(content)
        )
        delta.calls = list(_calls(body.get("tool_calls")))
        if not delta.calls and isinstance(old := body.get("function_call"), dict):
            delta.calls = list(_calls([{"index": 0, "function": old}]))
    delta.finish_reason = whole(_text(choice.get("finish_reason")))[:LONGEST_REASON]
    if delta.usage is None:
        delta.usage = _usage(choice.get("usage"))
    return delta


def error_of(payload: dict[str, Any]) -> object:
    """What a chunk reports to have gone wrong; falsy if it is one of an answer."""
    if payload.get("error"):
        return payload["error"]
    if payload.get("choices"):
        choice = payload["choices"][0] if isinstance(payload["choices"], list) else None
        if not isinstance(choice, dict):
            return None
        is_failed = choice.get("finish_reason") == "error"
        return choice.get("error") or ("finish_reason: error" if is_failed else None)
    is_error = "error" in (payload.get("object"), payload.get("type"))
    says = payload.get("message") or payload.get("detail")
    return payload if is_error or ("choices" not in payload and says) else None


def text_of(content: object) -> str:
    """Text content as one string; parts of another kind are left out."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "".join(
        part if isinstance(part, str) else _text(part.get("text"))
        for part in content
        if isinstance(part, str)
        or (isinstance(part, dict) and part.get("type") == "text")
    )


def _thinking_of(content: object) -> str:
    """Reasoning among the parts of a text, as Mistral's models send it."""
    if not isinstance(content, list):
        return ""
    return "".join(
        text_of(part.get("thinking"))
        for part in content
        if isinstance(part, dict) and part.get("type") == "thinking"
    )


def merged(deltas: Iterable[Delta]) -> list[Delta]:
    """Neighbours that are text alone become one: a read is one event, not ten."""
    result: list[Delta] = []
    for delta in deltas:
        last = result[-1] if result else None
        if last is not None and last.is_text_only() and delta.is_text_only():
            last.text += delta.text
        else:
            result.append(delta)
    return result


class TextCleaner:
    """Makes a stream of text storable: no NUL, no half of a surrogate pair.

    A pair that was cut between two pieces is put together again.
    """

    def __init__(self) -> None:
        self._half = ""

    def clean(self, text: str) -> str:
        if "\x00" in text:
            text = text.replace("\x00", "")
        if self._half:
            text, self._half = self._half + text, ""
        if not text or text.isascii():
            return text
        if HIGH[0] <= text[-1] <= HIGH[1]:
            self._half, text = text[-1], text[:-1]
        return whole(text)

    def finish(self) -> str:
        """What a half that nothing followed has become."""
        text, self._half = whole(self._half), ""
        return text


def whole(text: str) -> str:
    """Without NUL; surrogate pairs joined, single halves replaced by U+FFFD."""
    text = text.replace("\x00", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        data = text.encode("utf-16-le", "surrogatepass")
        text = data.decode("utf-16-le", "replace")
    return text


def storable(value: Any) -> Any:
    """JSON of any shape with all its texts whole, and no number beyond 64 bits."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return str(value)
    if isinstance(value, dict):
        return {whole(key): storable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [storable(item) for item in value]
    return value


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _calls(parts: object) -> Iterable[CallPart]:
    if isinstance(parts, dict):
        parts = [parts]
    if not isinstance(parts, list):
        return
    for part in parts:
        if not isinstance(part, dict):
            continue
        function = part.get("function")
        function = function if isinstance(function, dict) else {}
        index = part.get("index")
        extra = _unknown(part, "index", "id", "type", "function")
        if inner := _unknown(function, "name", "arguments"):
            extra["function"] = inner
        yield CallPart(
            index=index if isinstance(index, int) else None,
            id=whole(_text(part.get("id"))),
            name=whole(_text(function.get("name"))),
            arguments=_arguments(function.get("arguments")),
            extra=extra,
        )


def _unknown(fields: dict[str, Any], *known: str) -> dict[str, Any]:
    return {
        key: storable(value)
        for key, value in fields.items()
        if key not in known and value is not None
    }


def _arguments(value: object) -> str:
    """As text; some servers send the object itself, or what is no object at all."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(storable(value), ensure_ascii=False)


def _usage(value: object) -> Usage | None:
    if not isinstance(value, dict):
        return None
    read = value.get("prompt_tokens", value.get("input_tokens"))
    written = value.get("completion_tokens", value.get("output_tokens"))
    # No request is without tokens: 0 says that nobody has counted.
    usage = Usage(_count(read) or None, _count(written))
    if usage.input_tokens is None and not usage.output_tokens:
        return None
    return usage


def _count(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= _MOST_TOKENS else None
