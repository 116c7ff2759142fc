import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from llmconfig.tokens import (
    estimate,
    estimate_message,
    estimate_messages,
    estimate_tools,
)

# Text, then its tokens in cl100k_base and o200k_base, counted once with tiktoken.
COUNTED = {
    "english": (
        "The router does not forward the packet because its routing t"
        "able holds no entry for the destination network. Why can't P"
        "C1 reach PC2?",
        28,
        27,
    ),
    "python": (
        "def claim(self) -> bool:\n    rows = Run.objects.filter(pk=se"
        "lf.pk, status__in=old)\n    return await rows.aupdate(status="
        "new, **fields) == 1\n",
        39,
        40,
    ),
    "routes": (
        "O        10.0.2.0/24 [110/2] via 10.0.1.2, 00:12:01, FastEth"
        "ernet0/1\nC        10.0.1.0/24 is directly connected, FastEth"
        "ernet0/1\n",
        62,
        64,
    ),
    "interfaces": (
        "GigabitEthernet0/0     10.0.0.1        YES NVRAM  up        "
        "            up\nLoopback0              unassigned      YES un"
        "set  administratively down down\n",
        41,
        41,
    ),
    "ping": (
        "84 bytes from 10.0.0.2 icmp_seq=1 ttl=64 time=0.361 ms\n",
        25,
        26,
    ),
    "json": (
        '{"devices":[{"device":"R1","status":"ok","commands":[{"comma'
        'nd":"show ip","output":"NAME : PC1[1]\\nIP/MASK : 10.0.0.1/24'
        '\\n","truncated":false}]}]}',
        52,
        54,
    ),
    "base64": (
        "MIIDXTCCAkWgAwIBAgIJAKoK/heBjcOuMA0GCSqGSIb3DQEBBQUAMEUxCzAJ"
        "BgNVBAYTAkFVMRMwEQYDVQQIDApTb21lLVN0YXRl",
        64,
        61,
    ),
    "german": (
        "Der Router leitet das Paket nicht "
        "weiter, weil seine Tabelle keinen "
        "Eintrag für das Zielnetz enthält.",
        25,
        21,
    ),
    "chinese": (
        "路由器没有转发该数据包，因为其路由表中没有目标网络的条目。为什么主机"
        "一无法访问主机二？",
        41,
        32,
    ),
    "japanese": (
        "ルーターはパケットを転送しません。ルーティングテーブルに宛先ネットワ"
        "ークのエントリがないためです。",
        50,
        33,
    ),
    "korean": (
        "라우터가 패킷을 전달하지 않습니다. 라우팅 테이블에 목적지 네"
        "트워크에 대한 항목이 없기 때문입니다.",
        51,
        32,
    ),
}


@pytest.mark.parametrize("name", COUNTED)
def test_estimate_is_near_a_real_count_and_hardly_ever_below(name: str) -> None:
    text, cl100k, o200k = COUNTED[name]

    tokens = estimate(text)

    assert tokens >= 0.9 * max(cl100k, o200k)
    assert tokens <= 2.2 * cl100k


@given(st.text(), st.text())
def test_texts_together_cost_no_more_than_one_by_one_but_for_a_word_that_grows(
    one: str, other: str
) -> None:
    assert estimate(f"{one}\n{other}") <= estimate(one) + estimate(other) + 1


@given(st.text(max_size=400))
def test_any_text_has_a_count_that_is_no_more_than_its_bytes(text: str) -> None:
    tokens = estimate(text)

    assert 0 <= tokens <= 2 * len(text.encode("utf-8", "surrogatepass"))
    assert (tokens == 0) <= (not text.strip("\r "))


def test_half_of_a_surrogate_pair_is_counted() -> None:
    assert estimate("a \ud83d b") > 0


def test_digits_count_one_by_one() -> None:
    assert estimate("192168001001") == 12


def test_a_message_costs_its_frame_its_text_its_calls_and_their_ids() -> None:
    plain = AIMessage("Hello")
    calling = AIMessage(
        "Hello",
        tool_calls=[{"name": "read_topology", "args": {"a": 1}, "id": "call_abc"}],
    )
    result = ToolMessage("Hello", tool_call_id="call_abc")

    assert estimate_message(plain) > estimate("Hello")
    assert estimate_message(calling) > estimate_message(plain) + estimate("call_abc")
    assert estimate_message(result) == estimate_message(plain) + estimate("call_abc")


def test_raw_arguments_count_instead_of_what_was_parsed_from_them() -> None:
    call = {"name": "run", "args": {}, "id": "c1"}
    parsed = AIMessage("", tool_calls=[call])
    raw = AIMessage(
        "",
        tool_calls=[call],
        additional_kwargs={"raw_arguments": {"c1": '{"command": "show ip route"'}},
    )

    assert estimate_message(raw) > estimate_message(parsed)


def test_reasoning_counts_only_where_it_is_sent() -> None:
    message = AIMessage("Yes", additional_kwargs={"reasoning_content": "Let me see."})

    silent = estimate_message(message)

    assert estimate_message(message, sends_reasoning=True) > silent
    assert silent == estimate_message(AIMessage("Yes"))


def test_messages_add_up() -> None:
    messages = [SystemMessage("Be brief."), HumanMessage("日本語"), AIMessage("")]

    assert estimate_messages(messages) == sum(map(estimate_message, messages))
    assert estimate_messages([]) == 0


def test_tools_count_as_the_json_that_is_sent() -> None:
    tool = {
        "type": "function",
        "function": {"name": "run", "parameters": {"type": "object"}},
    }

    assert estimate_tools([tool, tool]) == 2 * estimate_tools([tool])
    assert estimate_tools([tool]) > estimate(json.dumps(tool))
    assert estimate_tools([]) == 0


@pytest.mark.parametrize("text", ["a", "!", " ", "aA", "路", "\n", "a1!"])
def test_a_megabyte_of_anything_is_counted_in_linear_time(text: str) -> None:
    started = time.process_time()

    estimate(text * 1_000_000)

    assert time.process_time() - started < 2
