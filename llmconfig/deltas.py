"""One piece of a model's answer, whichever server it comes from.

Servers differ in what they leave out, repeat or set to null. All of that ends here:
what is not of the expected kind is as if it were not there.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

HIGH = ("\ud800", "\udbff")
LOW = ("\udc00", "\udfff")


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

    def is_text_only(self) -> bool:
        return not (self.reasoning or self.calls or self.finish_reason or self.usage)


def delta_of(payload: dict[str, Any]) -> Delta:
    """From one chunk of a streamed chat completion."""
    delta = Delta(usage=_usage(payload.get("usage")))
    choices = payload.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return delta
    choice = choices[0]
    # A server that ignores stream=true sends a whole message instead.
    body = choice.get("delta") or choice.get("message") or {}
    if isinstance(body, dict):
        delta.text = text_of(body.get("content")) or _text(body.get("refusal"))
        delta.reasoning = _text(body.get("reasoning_content")) or _text(
            body.get("reasoning")
        )
        delta.calls = list(_calls(body.get("tool_calls")))
    delta.finish_reason = _text(choice.get("finish_reason"))
    if delta.usage is None:
        delta.usage = _usage(choice.get("usage"))
    return delta


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
        if self._half:
            text, self._half = self._half + text, ""
        if text.isascii():
            return text.replace("\x00", "") if "\x00" in text else text
        if HIGH[0] <= text[-1] <= HIGH[1]:
            self._half, text = text[-1], text[:-1]
        return whole(text)


def whole(text: str) -> str:
    """Without NUL; surrogate pairs joined, single halves replaced by U+FFFD."""
    text = text.replace("\x00", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        data = text.encode("utf-16-le", "surrogatepass")
        text = data.decode("utf-16-le", "replace")
    return text


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _calls(parts: object) -> Iterable[CallPart]:
    if not isinstance(parts, list):
        return
    for part in parts:
        if not isinstance(part, dict):
            continue
        function = part.get("function")
        function = function if isinstance(function, dict) else {}
        index = part.get("index")
        arguments = function.get("arguments")
        yield CallPart(
            index=index if isinstance(index, int) else None,
            id=_text(part.get("id")),
            name=_text(function.get("name")),
            arguments=_arguments(arguments),
            extra={
                key: value
                for key, value in part.items()
                if key not in ("index", "id", "type", "function") and value is not None
            },
        )


def _arguments(value: object) -> str:
    """As text; some servers send the object itself."""
    if isinstance(value, dict):
        import orjson

        return orjson.dumps(value).decode()
    return _text(value)


def _usage(value: object) -> Usage | None:
    if not isinstance(value, dict):
        return None
    read, written = value.get("prompt_tokens"), value.get("completion_tokens")
    usage = Usage(_count(read), _count(written))
    return None if usage == Usage() else usage


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    return value
