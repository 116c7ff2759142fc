"""Answers what there is: topology, device output, pings, given commands."""

import re
from collections.abc import Mapping
from ipaddress import IPv4Address
from typing import Any

from llmconfig.offline.build import build_network, role_of
from llmconfig.offline.markdown import evidence_block, fence
from llmconfig.offline.network import Network, Role, port_key
from llmconfig.offline.parse_ping import parse_ping
from llmconfig.offline.parse_vpcs import parse_show_ip
from llmconfig.offline.quotes import Quote
from llmconfig.offline.reach import pairs_asked, ping_command
from llmconfig.offline.reading import MAX_DEVICES
from llmconfig.offline.report import roles
from llmconfig.offline.steps import Step, Turn, command_calls

# What the question is about, then the commands for a PC and a router.
_TOPICS: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (re.compile(r"arp", re.I), "show arp", "show ip arp"),
    (
        re.compile(r"access[- ]?list|\bacls?\b|访问列表", re.I),
        "show ip",
        "show access-lists",
    ),
    (re.compile(r"rout(?:e|ing)|路由(?!器)", re.I), "show ip", "show ip route"),
    (re.compile(r"version|版本", re.I), "version", "show version"),
    (re.compile(r"[ck]onfig|配置", re.I), "show ip", "show running-config"),
    (re.compile(""), "show ip", "show ip interface brief"),
)
_BACKTICKS = re.compile(r"`([^`\n]+)`")


def answer_topology(turn: Turn) -> Step:
    step = turn.read_topology()
    if step:
        return step
    nodes, links = turn.evidence.nodes(), turn.evidence.links()
    if not nodes:
        return turn.plain(turn.say("empty_lab"))
    project = (turn.evidence.topology or {}).get("project")
    name = project.get("name", "") if isinstance(project, Mapping) else ""
    facts = {"name": str(name), "nodes": str(len(nodes)), "links": str(len(links))}
    rows = [turn.say("topology.head"), "|---|---|---|---|"]
    rows += [
        f"| {n.get('name')} | {n.get('type')} | {n.get('status')} "
        f"| {n.get('console') or '–'} |"
        for n in nodes
    ]
    lines = [_link_line(turn, link) for link in links]
    wires = turn.say("topology.links") + "\n\n" + "\n".join(lines) if lines else ""
    return turn.plain(turn.say("topology", facts), "\n".join(rows), wires)


def _link_line(turn: Turn, link: Mapping[str, Any]) -> str:
    line = (
        f"- {link.get('a')} {link.get('a_port')} – {link.get('b')} {link.get('b_port')}"
    )
    return f"{line} ({turn.say('suspended')})" if link.get("suspended") else line


def answer_show(turn: Turn) -> Step:
    step = turn.read_topology()
    if step:
        return step
    chosen = _devices(turn)
    if not chosen:
        return _nobody(turn)
    text = f"{turn.question.text} {turn.question.earlier}"
    host, router = next((h, r) for p, h, r in _TOPICS if p.search(text))
    wanted = [
        (name, [host if role is Role.HOST else router])
        for name, role in chosen
        if role in {Role.HOST, Role.ROUTER}
    ]
    if not wanted:
        return turn.plain(turn.say("no_console", {"device": chosen[0][0]}))
    return run_and_show(turn, wanted)


def answer_run(turn: Turn) -> Step:
    """The commands in backticks, on the devices named outside of them."""
    step = turn.read_topology()
    if step:
        return step
    commands = _BACKTICKS.findall(turn.question.text)
    chosen = [(name, role) for name, role in _devices(turn, is_named=True)]
    if not chosen or not commands:
        return _nobody(turn)
    return run_and_show(turn, [(name, commands) for name, _ in chosen])


def _devices(turn: Turn, *, is_named: bool = False) -> list[tuple[str, Role]]:
    """The named devices; without a name all that run."""
    known = {str(n.get("name", "")): n for n in turn.evidence.nodes()}
    text = _BACKTICKS.sub(" ", turn.question.text)
    asked = turn.question.mentions(known)
    named = [m for m in asked if isinstance(m, str)]
    if is_named:
        named = [m for m in named if port_key(m) and m.casefold() in text.casefold()]
    if named or is_named or turn.question.unknown_names(known):
        return [(name, role_of(known[name])) for name in named]
    running = [n for n, node in known.items() if node.get("status") == "started"]
    return [(name, role_of(known[name])) for name in running][:MAX_DEVICES]


def _nobody(turn: Turn) -> Step:
    is_unknown = bool(turn.question.unknown_names(turn.names))
    key = "no_device" if is_unknown else "which_device"
    return turn.plain(turn.say(key, {"names": turn.listing}))


def run_and_show(turn: Turn, wanted: list[tuple[str, list[str]]]) -> Step:
    missing = [
        (name, commands)
        for name, commands in wanted
        if not turn.evidence.lines_of(name)
    ]
    if missing:
        return turn.call(*command_calls(missing))
    wanted = [(name, turn.evidence.lines_of(name)) for name, _ in wanted]
    parts = [part for name, commands in wanted for part in _shown(turn, name, commands)]
    return turn.answer(_headline(turn, wanted), *parts)


def _headline(turn: Turn, wanted: list[tuple[str, list[str]]]) -> str:
    names = ", ".join(name for name, _ in wanted)
    commands = ", ".join(dict.fromkeys(f"`{c}`" for _, cs in wanted for c in cs))
    if len(wanted) == 1 and wanted[0][1] == ["show ip"]:
        found = parse_show_ip(turn.evidence.output(names, "show ip") or "")
        if found and found.address:
            facts = {
                "address": str(found.address),
                "gateway": str(found.gateway or "–"),
            }
            return turn.say("has_address", {"device": names, **facts})
        if found:
            return turn.say("has_no_address", {"device": names})
    return turn.say("shown", {"command": commands, "device": names})


def _shown(turn: Turn, name: str, commands: list[str]) -> list[str]:
    network = build_network(turn.evidence)
    blocks = []
    for command in commands:
        output = turn.evidence.output(name, command)
        if output is not None:
            quote = Quote(name, command, output.strip("\r\n"))
            blocks.append(evidence_block([quote], roles(network)))
    problem = turn.evidence.problem(name)
    if problem:
        blocks.append(fence(f"{name}: {problem}"))
    return blocks


def answer_ping(turn: Turn) -> Step:
    """Addresses first, then the ping."""
    step = turn.read_topology()
    if step:
        return step
    mentions = turn.question.mentions(turn.names)
    if len(mentions) < 2 or not any(isinstance(m, str) for m in mentions):
        return _nobody(turn)
    readable = [
        (name, ["show ip" if role is Role.HOST else "show ip interface brief"])
        for name, role in _devices(turn)
        if role in {Role.HOST, Role.ROUTER}
    ]
    unread = [w for w in readable if not turn.evidence.was_asked(w[0], w[1][0])]
    if unread:
        return turn.call(*command_calls(unread))
    network = build_network(turn.evidence)
    pairs = pairs_asked(turn, network)
    ping = ping_command(network, pairs[0]) if len(pairs) == 1 else None
    if ping is None:
        return _cannot_ping(turn, network, mentions)
    if not turn.evidence.was_asked(*ping):
        return turn.call(*command_calls([(ping[0], [ping[1]])]))
    return _pinged(turn, ping, str(pairs[0][1]))


def _pinged(turn: Turn, ping: tuple[str, str], target: str) -> Step:
    result = parse_ping(turn.evidence.output(*ping) or "")
    is_reachable = result is not None and result.is_reachable
    headline = turn.say(
        "ping_ok" if is_reachable else "ping_failed",
        {"source": ping[0], "target": target},
    )
    hint = "" if is_reachable else turn.say("ping_hint")
    return turn.answer(headline, *_shown(turn, ping[0], [ping[1]]), hint)


def _cannot_ping(
    turn: Turn, network: Network, mentions: list[str | IPv4Address]
) -> Step:
    names = [m for m in mentions if isinstance(m, str)]
    for name in names:
        device = network.devices[name]
        if device.role not in {Role.HOST, Role.ROUTER}:
            return turn.plain(turn.say("no_console", {"device": name}))
        if not device.is_started:
            return turn.plain(turn.say("node_stopped", {"device": name}))
    for name in names:
        device = network.devices[name]
        if not device.is_known:
            facts = {"device": name, "problem": device.problem or "?"}
            return turn.answer(
                turn.say("unreadable", facts), fence(f"{name}: {device.problem}")
            )
    facts = {"device": names[-1]}
    return turn.answer(
        turn.say("has_no_address", facts), *_shown(turn, names[-1], ["show ip"])
    )
