import json
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessageChunk

from chat.agent.translate import (
    Answer,
    Assembler,
    CallPiece,
    CallRequest,
    ReasoningPiece,
    TextPiece,
)
from llmconfig.deltas import Usage, text_of
from llmconfig.streaming import delta_of_chunk
from tests.fakes.models import end, piece

Pieces = list[TextPiece | ReasoningPiece | CallPiece]


def fed(*chunks: AIMessageChunk) -> tuple[Answer, Pieces]:
    assembler = Assembler()
    pieces = [
        piece for chunk in chunks for piece in assembler.feed(delta_of_chunk(chunk))
    ]
    return assembler.answer, pieces


def shown(answer: Answer) -> list[tuple[str, str, str]]:
    return [(call.id, call.name, call.arguments) for call in answer.calls]


def test_two_calls_with_one_index_are_two_calls() -> None:
    # PROV-01
    answer, _ = fed(
        piece(index=0, id="a", name="f", args='{"x":1}'),
        piece(index=0, id="b", name="g", args='{"y":2}'),
        end("tool_calls"),
    )

    assert shown(answer) == [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}')]


def test_a_call_without_any_id_gets_one_stable_id() -> None:
    # PROV-04
    answer, pieces = fed(
        piece(index=0, name="f", args='{"x"'), piece(index=0, args=":1}"), end()
    )

    (call,) = answer.calls
    assert call.id
    assert (call.name, call.arguments) == ("f", '{"x":1}')
    assert {p.call.id for p in pieces if isinstance(p, CallPiece)} == {call.id}


def test_two_calls_without_ids_get_different_ones() -> None:
    answer, _ = fed(piece(index=0, name="f"), piece(index=1, name="f"), end())

    assert len({call.id for call in answer.calls}) == 2


def test_an_id_that_comes_late_opens_no_second_call() -> None:
    answer, _ = fed(
        piece(index=0, name="f", args="{"), piece(index=0, id="late", args="}"), end()
    )

    assert [(call.name, call.arguments) for call in answer.calls] == [("f", "{}")]


@pytest.mark.parametrize("blank", ["", None])
def test_a_blank_name_never_overwrites(blank: str | None) -> None:
    # PROV-05
    answer, _ = fed(
        piece(index=0, id="a", name="f", args="{"),
        piece(index=0, id=blank, name=blank, args="}"),
        end(),
    )

    assert shown(answer) == [("a", "f", "{}")]


def test_a_call_is_not_told_before_its_name_is_known() -> None:
    # PROV-06
    assembler = Assembler()

    nameless = delta_of_chunk(piece(index=0, id="a", name=""))
    assert not list(assembler.feed(nameless))
    named = delta_of_chunk(piece(index=0, name="f", args='{"x":1}'))
    (told,) = assembler.feed(named)

    assert isinstance(told, CallPiece)
    assert shown(assembler.answer) == [("a", "f", '{"x":1}')]


@pytest.mark.parametrize("args", ["", None, "  ", "{}"])
def test_no_arguments_are_an_empty_object(args: str | None) -> None:
    # PROV-08
    answer, _ = fed(piece(index=0, id="a", name="f", args=args), end())

    assert answer.calls[0].parsed() == {}
    assert answer.as_message("m").tool_calls[0]["args"] == {}


@pytest.mark.parametrize(
    "raw", ["not json", "[1]", '"x"', "1", "null", '{"x":', '{"x": NaN}', "{} {}"]
)
def test_what_is_no_json_object_does_not_parse(raw: str) -> None:
    # PROV-09
    assert CallRequest("a", "f", raw).parsed() is None


def test_calls_count_whatever_the_finish_reason() -> None:
    # PROV-12
    answer, _ = fed(piece(index=0, id="a", name="f", args="{}"), end("stop"))

    assert shown(answer) == [("a", "f", "{}")]
    assert answer.finish_reason == "stop"


def test_text_and_call_of_one_message_are_both_kept() -> None:
    # PROV-40
    answer, pieces = fed(
        AIMessageChunk(content="Let me check."),
        piece(index=0, id="a", name="f", args="{}"),
        end("tool_calls"),
    )

    assert answer.text == "Let me check."
    assert shown(answer) == [("a", "f", "{}")]
    assert [type(p) for p in pieces] == [TextPiece, CallPiece]
    message = answer.as_message("m")
    assert (message.content, len(message.tool_calls)) == ("Let me check.", 1)


def test_reasoning_is_no_text() -> None:
    answer, pieces = fed(
        AIMessageChunk(content="", additional_kwargs={"reasoning_content": "Hm."}),
        AIMessageChunk(content="PC1"),
        end(),
    )

    assert (answer.reasoning, answer.text) == ("Hm.", "PC1")
    assert pieces == [ReasoningPiece("Hm."), TextPiece("PC1")]


def test_the_last_usage_counts() -> None:
    def used(read: int, written: int) -> AIMessageChunk:
        return AIMessageChunk(
            content="",
            usage_metadata={
                "input_tokens": read,
                "output_tokens": written,
                "total_tokens": read + written,
            },
        )

    answer, _ = fed(used(10, 1), used(10, 7), end())

    assert answer.usage == Usage(10, 7)
    assert answer.usage.total_tokens == 17


def test_unknown_usage_stays_unknown() -> None:
    answer, _ = fed(AIMessageChunk(content="x"), end())

    assert answer.usage == Usage(None, None)
    assert answer.usage.total_tokens is None


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        (["a", {"type": "text", "text": "b"}], "ab"),
        ([{"type": "image_url", "image_url": "x"}, {"type": "text"}], ""),
    ],
)
def test_only_text_parts_are_text(content: str | list[object], text: str) -> None:
    assert text_of(content) == text


# No database stores NUL or half a surrogate pair: these are taken out on the way.
LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.text(LETTERS, max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(LETTERS, max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(st.text(LETTERS, max_size=5), JSON, max_size=4)
CALLS = st.lists(
    st.tuples(st.sampled_from(["read_topology", "run_commands"]), ARGUMENTS),
    max_size=4,
)


def pieces_of(text: str, cuts: Iterable[int]) -> list[str]:
    marks = sorted({cut % (len(text) + 1) for cut in cuts} | {0, len(text)})
    return [text[a:b] for a, b in zip(marks, marks[1:], strict=False)]


@given(
    text=st.text(LETTERS, max_size=40),
    calls=CALLS,
    cuts=st.lists(st.integers(0, 200), max_size=8),
    same_index=st.booleans(),
    interleaved=st.booleans(),
)
def test_any_cutting_gives_that_text_and_those_calls(
    text: str,
    calls: list[tuple[str, dict[str, object]]],
    cuts: list[int],
    same_index: bool,
    interleaved: bool,
) -> None:
    streams: list[list[AIMessageChunk]] = []
    for number, (name, arguments) in enumerate(calls):
        index = 0 if same_index else number
        parts = pieces_of(json.dumps(arguments), cuts)
        streams.append(
            [
                piece(index=index, id=f"c{number}", name=name, args=""),
                *(piece(index=index, args=part) for part in parts),
            ]
        )
    if interleaved and not same_index:
        # Servers may send fragments of parallel calls in turns.
        longest = max(map(len, streams), default=0)
        ordered = [s[i] for i in range(longest) for s in streams if i < len(s)]
    else:
        ordered = [chunk for stream in streams for chunk in stream]
    spoken = [AIMessageChunk(content=part) for part in pieces_of(text, cuts)]

    answer, pieces = fed(*spoken, *ordered, end("tool_calls"))

    assert answer.text == text
    assert "".join(p.text for p in pieces if isinstance(p, TextPiece)) == text
    found = sorted((call.id, call.name, call.parsed()) for call in answer.calls)
    assert [(name, arguments) for _, name, arguments in found] == calls
    assert [call_id for call_id, *_ in found] == [f"c{n}" for n in range(len(calls))]
