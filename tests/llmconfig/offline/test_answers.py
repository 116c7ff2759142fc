from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from llmconfig.offline import OfflineChatModel
from tests.llmconfig.offline.labs import (
    TOOLS,
    Lab,
    ask,
    reply_from,
    tool_schema,
    two_router_lab,
)


def missing_return_route() -> Lab:
    lab = two_router_lab()
    lab.routers["far"].routes.clear()
    return lab


async def test_independent_reads_go_out_as_parallel_calls() -> None:
    lab = missing_return_route()

    _, messages = await ask(lab, "Why can't ada reach bob?")

    rounds = [m.tool_calls for m in messages if m.type == "ai" and m.tool_calls]
    assert [len(calls) for calls in rounds] == [1, 2, 1]
    hosts, routers = (call["args"]["devices"] for call in rounds[1])
    assert [entry["device"] for entry in hosts] == ["ada", "bob", "cyd"]
    assert [entry["device"] for entry in routers] == ["near", "far"]
    ids = [call["id"] for calls in rounds for call in calls]
    assert len(set(ids)) == len(ids)


async def test_stopped_devices_are_not_read() -> None:
    lab = two_router_lab()
    lab.stopped.add("cyd")

    await ask(lab, "Why can't ada reach bob?")

    read = [e["device"] for n, a in lab.calls if "devices" in a for e in a["devices"]]
    assert "cyd" not in read


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("Warum erreicht ada bob nicht?", "**ada erreicht bob nicht: fehlende Rückr"),
        ("Warum ist bob von ada nicht erreichbar?", "**ada erreicht bob nicht"),
        (
            "为什么ada无法访问bob？",
            "**ada 无法到达 bob：far 缺少到 10.1.1.0/24 的回程路由",
        ),
        ("ADA cannot ping Bob", "**ada cannot reach bob: missing return route on far"),
        ("why is bob unreachable from ada?", "**ada cannot reach bob"),
        ("Why can’t ada reach bob", "**ada cannot reach bob"),
    ],
)
async def test_a_question_is_understood_and_answered_in_its_language(
    question: str, start: str
) -> None:
    text, _ = await ask(missing_return_route(), question)

    assert text.startswith(start)


async def test_why_after_a_ping_looks_for_the_cause() -> None:
    lab = missing_return_route()

    text, history = await ask(lab, "ping ada to bob")
    assert text.startswith("**ada gets no answer from bob.**")
    text, _ = await ask(lab, "why?", history)

    assert text.startswith("**ada cannot reach bob: missing return route on far")


async def test_and_takes_over_the_rest_of_the_question() -> None:
    lab = missing_return_route()

    _, history = await ask(lab, "show the config of near")
    text, history = await ask(lab, "and far?", history)
    assert text.startswith("**`show running-config` on far.**")
    _, history = await ask(lab, "Why can't ada reach bob?", history)
    text, _ = await ask(lab, "and cyd?", history)

    assert text.startswith("**ada cannot reach cyd")


async def test_fix_it_changes_the_cause_and_pings() -> None:
    lab = missing_return_route()

    _, history = await ask(lab, "Why can't ada reach bob?")
    lab.pings["ping 10.2.2.20 -c 2"] = reply_from("10.2.2.20")
    lab.calls.clear()
    text, _ = await ask(lab, "fix it", history)

    route = "ip route 10.1.1.0 255.255.255.0 10.9.9.1"
    change = {"device": "far", "commands": ["configure terminal", route, "end"]}
    assert ("run_commands", {"devices": [change]}) in lab.calls
    assert text.startswith("**Changed, and ada reaches bob now.**")


async def test_a_rejected_change_is_said_to_be_undone_and_nothing_else_is_tried() -> (
    None
):
    model = OfflineChatModel(pace=0.0).bind_tools([tool_schema(n) for n in TOOLS])
    told = '{"error": "Not run: ada rejected it.", "rejected": true, "reason": "No."}'
    call = {
        "id": "c1",
        "name": "run_commands",
        "args": {"devices": [{"device": "ada", "commands": ["ip 10.0.0.9/24"]}]},
    }
    asked = AIMessage("", tool_calls=[call])
    for question, words in (
        ("set ada to 10.0.0.9/24", ("Nothing was changed", "Reason given: No.")),
        ("Setze ada auf 10.0.0.9/24", ("Nichts wurde geändert", "Grund: No.")),
    ):
        result = ToolMessage(told, tool_call_id="c1")
        answer = await model.ainvoke([HumanMessage(question), asked, result])

        assert not answer.tool_calls
        for word in (*words, "ada: ip 10.0.0.9/24"):
            assert word in answer.text


async def test_lines_that_a_person_edited_are_shown_and_not_asked_for_again() -> None:
    lab = two_router_lab()
    edits = {"ip 10.1.1.77/24": "ip 10.1.1.78/24"}

    def edit(arguments: dict[str, Any]) -> None:
        for entry in arguments.get("devices", []):
            entry["commands"] = [edits.get(c, c) for c in entry["commands"]]

    text, messages = await ask(lab, "set ada to 10.1.1.77/24", edit=edit)

    changes = [
        call["args"]["devices"]
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
        if call["name"] == "run_commands"
    ]
    assert changes == [[{"device": "ada", "commands": ["ip 10.1.1.78/24", "show ip"]}]]
    assert "ip 10.1.1.78/24" in text


async def test_what_no_tool_can_change_is_said() -> None:
    lab = two_router_lab()
    lab.suspended.add(("near", "far"))

    text, _ = await ask(lab, "fix ada to bob")

    assert text.startswith("**I have no tool for this change.**")
    assert "Resume the link" in text


async def test_the_topology_is_shown_as_a_table() -> None:
    lab = two_router_lab()
    lab.suspended.add(("near", "far"))

    text, _ = await ask(lab, "show me the topology")

    assert text.startswith("**Lab: 6 device(s), 5 link(s).**")
    assert "| ada | vpcs | started | vpcs |" in text
    assert "near FastEthernet0/1 – far FastEthernet0/1 (suspended)" in text


@pytest.mark.parametrize(
    ("question", "device", "command"),
    [
        ("what is the address of ada?", "ada", "show ip"),
        ("show the routes of near", "near", "show ip route"),
        ("zeige die Konfiguration von near", "near", "show running-config"),
        ("查看near的接口", "near", "show ip interface brief"),
        ("show arp of ada", "ada", "show arp"),
        ("run `show ip arp` on far", "far", "show ip arp"),
    ],
)
async def test_device_output_is_shown(question: str, device: str, command: str) -> None:
    lab = two_router_lab()

    text, _ = await ask(lab, question)

    wanted = {"device": device, "commands": [command]}
    assert lab.calls[-1] == ("run_commands", {"devices": [wanted]})
    assert command in text


async def test_devices_are_started_and_stopped_by_name_or_all() -> None:
    lab = two_router_lab()
    lab.stopped |= {"ada", "far"}

    text, _ = await ask(lab, "start ada")
    assert lab.calls[-1] == ("start_nodes", {"nodes": ["ada"]})
    assert text.startswith("**Started: ada.**")
    await ask(lab, "starte alle Geräte")
    assert lab.calls[-1] == ("start_nodes", {"nodes": ["ada", "far"]})
    text, _ = await ask(lab, "停止 bob")

    assert lab.calls[-1] == ("stop_nodes", {"nodes": ["bob"]})
    assert text.startswith("**已停止：bob。**")


async def test_a_small_lab_is_created_connected_and_started() -> None:
    lab = Lab({}, {}, [])

    text, _ = await ask(lab, "add two PCs and connect them")

    assert [name for name, _ in lab.calls] == [
        "list_templates",
        "create_nodes",
        "create_links",
        "start_nodes",
    ]
    assert lab.calls[1][1] == {"nodes": [{"template": "VPCS"}, {"template": "VPCS"}]}
    assert lab.calls[2][1] == {"links": [{"node_a": "N1", "node_b": "N2"}]}
    assert text.startswith("**Created: N1, N2.**")


async def test_three_connected_pcs_get_a_switch() -> None:
    lab = Lab({}, {}, [])

    await ask(lab, "erstelle drei PCs und verbinde sie")

    assert len(lab.calls[1][1]["nodes"]) == 4
    assert {link["node_b"] for link in lab.calls[2][1]["links"]} == {"N4"}


async def test_named_devices_are_connected() -> None:
    lab = two_router_lab()

    text, _ = await ask(lab, "connect ada and far")

    link = {"node_a": "ada", "node_b": "far"}
    assert lab.calls[-1] == ("create_links", {"links": [link]})
    assert text.startswith("**Connected: ada – far.**")


async def test_an_address_is_set_on_a_pc_and_on_a_router() -> None:
    lab = two_router_lab()

    await ask(lab, "set ada to 10.0.0.5/24 gateway 10.0.0.1")
    entry = lab.calls[-1][1]["devices"][0]
    assert entry["commands"] == ["ip 10.0.0.5/24 10.0.0.1", "show ip"]
    text, _ = await ask(lab, "set near to 10.0.0.1/24")
    assert "Which interface of near?" in text
    await ask(lab, "set near f0/1 to 10.0.0.1 255.255.255.0")

    entry = lab.calls[-1][1]["devices"][0]
    assert entry["commands"][1:3] == [
        "interface f0/1",
        "ip address 10.0.0.1 255.255.255.0",
    ]


@pytest.mark.parametrize(
    "question", ["tell me a joke", "hello", "help", "hallo", "你好", "帮助"]
)
async def test_what_it_is_not_asked_about_a_lab_explains_itself(question: str) -> None:
    lab = two_router_lab()

    text, _ = await ask(lab, question)

    assert lab.calls == []
    assert "LLM_BASE_URL" in text


async def test_an_unknown_device_is_not_guessed() -> None:
    lab = two_router_lab()

    text, history = await ask(lab, "Why can't ada reach R9?")
    assert "There is no device of that name here. Devices: ada, bob" in text
    text, _ = await ask(lab, "Why can't ada reach bob?", history)

    assert "bob" in text.split("\n")[0]


async def test_a_tool_that_is_not_bound_is_named() -> None:
    tools = [name for name in TOOLS if name != "run_commands"]

    text, _ = await ask(two_router_lab(), "Why can't ada reach bob?", tools=tools)

    assert "`run_commands`, which is not available here" in text


async def test_a_failing_tool_is_reported_not_repeated() -> None:
    lab = two_router_lab()
    lab.broken_tools["read_topology"] = "The GNS3 server does not answer."

    text, _ = await ask(lab, "Why can't ada reach bob?")

    assert len(lab.calls) == 1
    assert "The GNS3 server does not answer." in text


async def test_failing_consoles_leave_an_answer_that_names_them() -> None:
    lab = two_router_lab()
    lab.broken_tools["run_commands"] = "No result within 90 s."

    text, _ = await ask(lab, "Why can't ada reach bob?")

    assert "could not be read" in text
    assert "No result within 90 s." in text


async def test_a_cut_result_is_used_as_far_as_it_is_whole() -> None:
    lab = missing_return_route()
    whole = lab.call

    def cut(name: str, arguments: dict[str, object]) -> str:
        text = whole(name, arguments)
        if '"near"' not in text or name != "run_commands":
            return text
        return text[: text.rindex("hostname")] + "\n… cut: 99999 characters in all"

    lab.call = cut  # type: ignore[method-assign, assignment]

    text, _ = await ask(lab, "Why can't ada reach bob?")

    assert "ada" in text.split("\n")[0]
    assert "no language model is configured" in text
