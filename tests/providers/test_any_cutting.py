"""Whatever way an answer is cut and dressed, it is the same answer."""

import json
from itertools import pairwise
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat.agent.translate import Assembler
from llmconfig.answer_reader import AnswerReader
from llmconfig.deltas import TextCleaner, Usage, whole
from llmconfig.sse import SSEDecoder

# With halves of pairs and NUL: `text` alone would leave out surrogates.
characters = st.one_of(
    st.characters(),
    st.characters(categories=["Cs"]),
    st.sampled_from('\x00路由器😀é\u2028\n\r "\\'),
)
texts = st.text(characters, min_size=1, max_size=8)
json_texts = st.dictionaries(
    st.text(max_size=5),
    st.one_of(st.integers(-(2**60), 2**60), st.text(max_size=10), st.booleans()),
    max_size=3,
)


@st.composite
def answers(draw: st.DrawFn) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The deltas of an answer in an order that keeps each part's own, and the sum."""
    said = draw(st.lists(texts, max_size=6))
    thought = draw(st.lists(texts, max_size=4))
    wanted = draw(st.lists(json_texts, max_size=3))
    queues: list[list[dict[str, Any]]] = [
        [{"content": piece} for piece in said],
        [{"reasoning_content": piece} for piece in thought],
    ]
    for index, arguments in enumerate(wanted):
        queues.append(draw(fragments(index, arguments)))
    deltas = []
    while any(queues):
        queue = draw(st.sampled_from([queue for queue in queues if queue]))
        deltas.append(queue.pop(0))
    total = {
        "text": whole("".join(said)),
        "reasoning": whole("".join(thought)),
        "calls": {f"id{i}": (f"tool{i}", value) for i, value in enumerate(wanted)},
    }
    return deltas, total


@st.composite
def fragments(
    draw: st.DrawFn, index: int, arguments: dict[str, Any]
) -> list[dict[str, Any]]:
    """One call's deltas, by the habits of several servers."""
    is_escaped = draw(st.booleans())
    rest = json.dumps(arguments, ensure_ascii=is_escaped)
    parts = []
    while rest:
        size = draw(st.integers(1, len(rest)))
        parts.append(rest[:size])
        rest = rest[size:]
    habit = draw(st.sampled_from(["once", "repeats id", "repeats both", "empty"]))
    head: dict[str, Any] = {
        "index": index,
        "id": f"id{index}",
        "type": "function",
        "function": {"name": f"tool{index}", "arguments": ""},
    }
    result = [head]
    for part in parts:
        function: dict[str, Any] = {"arguments": part}
        call: dict[str, Any] = {"index": index, "function": function}
        if habit in ("repeats id", "repeats both"):
            call["id"] = f"id{index}"
        if habit == "repeats both":
            function["name"] = f"tool{index}"
        if habit == "empty":
            call["id"], function["name"] = "", None
        result.append(call)
    return [{"tool_calls": [call]} for call in result]


@st.composite
def streams(draw: st.DrawFn) -> tuple[list[bytes], dict[str, Any]]:
    """The bytes of such an answer, as one of many servers would send them, cut."""
    deltas, total = draw(answers())
    newline = draw(st.sampled_from([b"\n", b"\r\n", b"\r"]))
    noise = st.sampled_from(
        [b": ping", b"event: message", b'data: {"choices":[]}', b"id: 7", b""]
    )
    total["usage"] = draw(st.sampled_from([Usage(), Usage(10, 5)]))
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in deltas
    ]
    chunks.append({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    if total["usage"] != Usage():
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        if draw(st.booleans()):
            for number, chunk in enumerate(chunks):
                chunk["usage"] = {"prompt_tokens": 10, "completion_tokens": number}
        chunks.append({"choices": [], "usage": usage})
    body = b""
    for chunk in chunks:
        if draw(st.booleans()):
            body += draw(noise) + newline * 2
        # Surrogates cannot be written but escaped.
        is_ascii = draw(st.booleans())
        data = json.dumps(chunk, ensure_ascii=is_ascii)
        try:
            line = data.encode()
        except UnicodeEncodeError:
            line = json.dumps(chunk).encode()
        body += b"data: " + line + newline * 2
    body += draw(st.sampled_from([b"data: [DONE]" + newline * 2, b""]))
    size = draw(st.sampled_from([1, 2, 3, 7, 64, len(body)]))
    cuts = [body[at : at + size] for at in range(0, len(body), size)]
    return cuts, total


@given(streams())
@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_any_cutting_and_interleaving_is_the_same_answer(
    stream: tuple[list[bytes], dict[str, Any]],
) -> None:
    cuts, total = stream
    reader, assembler = AnswerReader(), Assembler()

    for data in cuts:
        for delta in reader.feed(data):
            list(assembler.feed(delta))
    if not reader.is_over:
        for delta in reader.finish():
            list(assembler.feed(delta))

    answer = assembler.answer
    assert reader.failure is None
    assert answer.text == total["text"]
    assert answer.reasoning == total["reasoning"]
    calls = {call.id: (call.name, call.parsed()) for call in answer.calls}
    wanted = {
        key: (name, {whole(k): _whole(v) for k, v in arguments.items()})
        for key, (name, arguments) in total["calls"].items()
    }
    assert calls == wanted
    assert answer.usage == total["usage"]
    assert answer.finish_reason == "stop"


def _whole(value: Any) -> Any:
    return whole(value) if isinstance(value, str) else value


surrogates = st.text(st.sampled_from("a\x00\ud83d\ude00é"), max_size=12)


@given(surrogates, st.lists(st.integers(0, 12), max_size=4))
@settings(max_examples=500, deadline=None)
def test_pairs_cut_anywhere_are_joined(text: str, cuts: list[int]) -> None:
    cleaner, borders = TextCleaner(), [0, *sorted(cuts), len(text)]

    pieces = [cleaner.clean(text[a:b]) for a, b in pairwise(borders)]

    assert "".join(pieces) + cleaner.finish() == whole(text)


lines = st.sampled_from([b"data: x", b"data:y", b": c", b"event: e", b"", b"data"])


@given(
    st.lists(lines, max_size=12),
    st.lists(st.sampled_from([b"\n", b"\r\n", b"\r"]), min_size=12, max_size=12),
    st.integers(1, 9),
)
@settings(max_examples=300, deadline=None)
def test_the_way_bytes_are_cut_never_changes_the_events(
    lines: list[bytes], ends: list[bytes], size: int
) -> None:
    body = b"".join(line + end for line, end in zip(lines, ends, strict=False))
    at_once, cut = SSEDecoder(), SSEDecoder()

    whole_events = at_once.feed(body) + at_once.finish()
    cut_events = []
    for at in range(0, len(body), size):
        cut_events += cut.feed(body[at : at + size])
    cut_events += cut.finish()

    assert cut_events == whole_events


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
@settings(max_examples=200, deadline=None)
def test_no_json_breaks_the_reader(value: Any) -> None:
    shapes = [
        value,
        {"choices": value},
        {"choices": [value]},
        {"choices": [{"delta": value, "finish_reason": value, "message": value}]},
        {"choices": [{"delta": {"content": value, "tool_calls": value}}]},
        {"choices": [{"delta": {"tool_calls": [value, {"function": value}]}}]},
        {
            "choices": [
                {
                    "delta": {
                        "reasoning": value,
                        "tool_calls": [
                            {
                                "index": value,
                                "id": value,
                                "function": {"name": value, "arguments": value},
                                "extra": value,
                            }
                        ],
                    }
                }
            ],
            "usage": value,
        },
        {"choices": [], "usage": {"prompt_tokens": value, "completion_tokens": value}},
        {"error": value},
    ]
    for shape in shapes:
        for data in (b"data: %b\n\n" % json.dumps(shape).encode(), _json(shape)):
            reader, assembler = AnswerReader(), Assembler()

            for delta in reader.feed(data) + reader.finish():
                list(assembler.feed(delta))

            assembler.answer.settle()
            assembler.answer.as_message("m").model_dump_json()
            assert reader.is_over


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()
