"""Builds small labs: some PCs, routers and switches, connected when asked."""

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from llmconfig.offline.change import failures
from llmconfig.offline.steps import Call, Step, Turn

MAX_NODES = 10
_NUMBERS = {
    **dict.fromkeys(("a", "an", "one", "ein", "eine", "einen", "一"), 1),
    **dict.fromkeys(("two", "zwei", "两", "二", "couple of"), 2),
    **dict.fromkeys(("three", "drei", "三"), 3),
    **dict.fromkeys(("four", "vier", "四"), 4),
    **dict.fromkeys(("five", "fünf", "五"), 5),
    **dict.fromkeys(("six", "sechs", "六"), 6),
}
_KINDS = {
    "host": r"(?:virtual\s+)?(?:pcs?|vpcs|hosts?|computers?|rechner|主机|电脑)",
    "router": r"(?:routern?s?|路由器)",
    "switch": r"(?:ethernet[\s-]?)?(?:switch(?:es|e)?|交换机)",
}
_TYPES = {
    "host": ("vpcs",),
    "router": ("dynamips", "iou", "qemu"),
    "switch": ("ethernet_switch", "ethernet_hub"),
}
_CONNECT = re.compile(
    r"connect|link|wire|cable|join|verbind|verkabel|连接|相连|互联", re.I
)
_LAB = re.compile(r"\b(?:lab|labor|network|netz\w*)\b|实验|网络", re.I)


def counts_asked(text: str) -> dict[str, int]:
    """How many of which kind: `two PCs and a switch`."""
    numbers = "|".join(sorted(map(re.escape, _NUMBERS), key=len, reverse=True))
    found = {}
    for kind, pattern in _KINDS.items():
        match = re.search(
            rf"(?:(?<!\w)(\d+|{numbers})\s*(?:[台个]\s*)?(?:new\s+|neue\s+)?)?{pattern}"
            r"(?![A-Za-z0-9_])",
            text,
            re.I,
        )
        if match:
            word = (match[1] or "a").lower()
            count = int(word) if word.isdigit() else _NUMBERS[word]
            found[kind] = min(count, MAX_NODES)
    if not found and _LAB.search(text):
        return {"host": 2}
    return found


def answer_create(turn: Turn) -> Step:
    """Templates, devices, links, start, answer: a step for each."""
    text = turn.question.text
    counts = counts_asked(text)
    if not counts:
        return turn.plain(turn.say("unknown"), turn.say("help"))
    is_connected = bool(
        _CONNECT.search(text) or "host" not in text and _LAB.search(text)
    )
    if is_connected and counts.get("host", 0) > 2 and set(counts) == {"host"}:
        counts["switch"] = 1
    listed = turn.evidence.of("list_templates")
    if not listed:
        return turn.call(Call("list_templates"))
    if listed[-1].error:
        return turn.failed("list_templates", listed[-1].error)
    return _create(turn, counts, listed[-1].data, is_connected)


def answer_link(turn: Turn) -> Step:
    """A link between each two neighbours in the list of named devices."""
    step = turn.read_topology()
    if step:
        return step
    named = [m for m in turn.question.mentions(turn.names) if isinstance(m, str)]
    if len(named) < 2:
        unknown = turn.question.unknown_names(turn.names)
        message = "no_device" if unknown else "which_device"
        return turn.plain(turn.say(message, {"names": turn.listing}))
    linked = turn.evidence.of("create_links")
    if not linked:
        wanted = [{"node_a": a, "node_b": b} for a, b in pairwise(named)]
        return turn.call(Call("create_links", {"links": wanted}))
    if linked[-1].error:
        return turn.failed("create_links", linked[-1].error)
    headline = _linked(turn, linked[-1].data)
    return turn.plain(headline, failures(turn, linked[-1].data))


def _create(
    turn: Turn, counts: Mapping[str, int], data: Mapping[str, Any], is_connected: bool
) -> Step:
    templates = {kind: _template(data, kind) for kind in counts}
    missing = [kind for kind, template in templates.items() if template is None]
    if missing:
        types = ", ".join(_TYPES[kind][0] for kind in missing)
        return turn.plain(turn.say("no_template", {"names": types}))
    kinds = [kind for kind, count in counts.items() for _ in range(count)]
    created = turn.evidence.of("create_nodes")
    if not created:
        nodes = [{"template": templates[kind]} for kind in kinds]
        return turn.call(Call("create_nodes", {"nodes": nodes}))
    if created[-1].error:
        return turn.failed("create_nodes", created[-1].error)
    names = [str(item.get("name")) for item in created[-1].data.get("created", [])]
    is_whole = len(names) == len(kinds)
    links = _links(names, kinds) if is_connected and is_whole else []
    return _connect(turn, names, links)


def _connect(turn: Turn, names: list[str], links: list[tuple[str, str]]) -> Step:
    linked = turn.evidence.of("create_links")
    if links and not linked and "create_links" in turn.tools:
        wanted = [{"node_a": a, "node_b": b} for a, b in links]
        return turn.call(Call("create_links", {"links": wanted}))
    started = turn.evidence.of("start_nodes")
    if names and not started and "start_nodes" in turn.tools:
        return turn.call(Call("start_nodes", {"nodes": names}))
    parts = [failures(turn, turn.evidence.of("create_nodes")[-1].data)]
    if linked:
        parts += [_linked(turn, linked[-1].data), failures(turn, linked[-1].data)]
        parts.append(linked[-1].error)
    if started:
        data = started[-1].data
        ready = ", ".join(str(name) for name in data.get("started", []))
        parts += [turn.say("started", {"names": ready})] if ready else []
        parts += [failures(turn, data), started[-1].error]
    if names:
        parts.append(turn.say("next_address", {"device": names[0]}))
    return turn.plain(turn.say("created", {"names": ", ".join(names) or "–"}), *parts)


def _linked(turn: Turn, data: Mapping[str, Any]) -> str:
    ends = [f"{item.get('a')} – {item.get('b')}" for item in data.get("created", [])]
    return turn.say("linked", {"names": ", ".join(ends)}) if ends else ""


def _template(data: Mapping[str, Any], kind: str) -> str | None:
    """The first template of the most fitting type."""
    templates = [t for t in data.get("templates", []) if isinstance(t, Mapping)]
    for wanted in _TYPES[kind]:
        for template in templates:
            if template.get("type") == wanted:
                return str(template.get("name"))
    return None


def _links(names: list[str], kinds: list[str]) -> list[tuple[str, str]]:
    """All to the switch, else to the router, else in a row."""
    centres = [n for n, k in zip(names, kinds, strict=True) if k == "switch"]
    centres = centres or [n for n, k in zip(names, kinds, strict=True) if k == "router"]
    if not centres:
        return list(pairwise(names))
    others = [name for name in names if name not in centres]
    return [*pairwise(centres), *((name, centres[0]) for name in others)]
