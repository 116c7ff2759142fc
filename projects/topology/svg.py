"""A topology as one SVG text: for the page, the admin and exported files.

Classes are those of the page's stylesheet; the file's own style makes it look
right alone, in light and dark. Names are untrusted: all text is escaped.
"""

import re
from collections.abc import Collection, Iterator
from html import escape
from math import atan2, cos, hypot, pi, sin
from typing import Literal

from projects.topology.layout import Layout, lay_out
from projects.topology.style import style_for
from projects.topology.symbols import DRAWING, WORD, kind_of
from projects.topology.view import TopologyEnd, TopologyLink, TopologyNode, TopologyView

Theme = Literal["auto", "light", "dark"]
Point = tuple[float, float]

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LONG_PORT = re.compile(r"^([A-Za-z-]+?)(\d.*)$")
_PORT_WORDS = {
    "gigabitethernet": "Gi",
    "fastethernet": "Fa",
    "tengigabitethernet": "Te",
    "ethernet": "e",
    "serial": "Se",
    "loopback": "Lo",
}
_LABEL_LENGTH = 14
_RADIUS = 22.0


def render_svg(
    topology: TopologyView,
    *,
    highlight: Collection[str] = (),
    theme: Theme = "auto",
) -> str:
    """Draw the lab; `highlight` holds the node ids the copilot works on."""
    layout = lay_out(topology)
    frame = f"{layout.width:g} {layout.height:g}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="topo__svg" '
        f'viewBox="0 0 {frame}" role="group" '
        f'aria-label="{_text(_summary(topology))}">',
        f"<style>{style_for(theme)}</style>",
        f'<rect class="tp-paper" width="{layout.width:g}" height="{layout.height:g}"/>',
        *_links(topology, layout),
        *(
            _node(node, layout, topology, node.node_id in highlight)
            for node in {n.node_id: n for n in topology.nodes}.values()
        ),
    ]
    if topology.is_simulated:
        parts.append(
            f'<text class="tp-label" x="{layout.width - 12:g}" '
            f'y="{layout.height - 12:g}" text-anchor="end">Simulated lab</text>'
        )
    return "".join([*parts, "</svg>"])


def short_port(name: str) -> str:
    """FastEthernet0/0 → Fa0/0; names that say nothing longer stay."""
    match = _LONG_PORT.match(name)
    if match is None:
        return name
    word = _PORT_WORDS.get(match[1].lower())
    return f"{word}{match[2]}" if word else name


def _text(value: str) -> str:
    return escape(_NOT_XML.sub("\ufffd", value), quote=True)


def _cut(value: str, length: int = _LABEL_LENGTH) -> str:
    return value if len(value) <= length else value[: length - 1] + "…"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _summary(topology: TopologyView) -> str:
    stopped = sum(node.status != "started" for node in topology.nodes)
    parts = [
        f"Topology of {topology.project_name}: {_count(len(topology.nodes), 'device')}",
        _count(len(topology.links), "link"),
        *([f"{stopped} not started"] if stopped else []),
        *(["simulated lab"] if topology.is_simulated else []),
    ]
    return ", ".join(parts)


def _links(topology: TopologyView, layout: Layout) -> Iterator[str]:
    """Lines first, then the port labels, so that no line crosses a label."""
    lines: list[str] = []
    labels: list[str] = []
    drawn: dict[frozenset[str], int] = {}
    for link in topology.links:
        ends = [end for end in link.ends if end.node_id in layout.points]
        if len(ends) != 2 or ends[0].node_id == ends[1].node_id:
            continue
        pair = frozenset(end.node_id for end in ends)
        nth = drawn[pair] = drawn.get(pair, -1) + 1
        # Parallel links bow out to alternating sides: 0, 1, -1, 2, -2 …
        bow = 18.0 * ((nth + 1) // 2) * (1 if nth % 2 else -1)
        if ends[0].node_id > ends[1].node_id:
            bow = -bow
        start, end = (layout.points[e.node_id] for e in ends)
        lines.append(_line(link, start, end, bow))
        labels += _port_label(ends[0], start, end, bow)
        labels += _port_label(ends[1], end, start, -bow)
    yield f'<g aria-hidden="true">{"".join(lines)}</g>'
    yield f'<g aria-hidden="true">{"".join(labels)}</g>'


def _line(link: TopologyLink, start: Point, end: Point, bow: float) -> str:
    off = " tp-link--off" if link.is_suspended else ""
    (x1, y1), (x2, y2) = start, end
    length = hypot(x2 - x1, y2 - y1) or 1.0
    cx = (x1 + x2) / 2 + (y1 - y2) / length * 2 * bow
    cy = (y1 + y2) / 2 + (x2 - x1) / length * 2 * bow
    path = f"M{x1:g} {y1:g}Q{cx:.1f} {cy:.1f} {x2:g} {y2:g}"
    return (
        f'<path class="tp-link{off}" data-link-id="{_text(link.link_id)}" d="{path}"/>'
    )


def _port_label(
    end: TopologyEnd, here: Point, there: Point, bow: float
) -> Iterator[str]:
    if not end.port:
        return
    (x, y), (other_x, other_y) = here, there
    length = hypot(other_x - x, other_y - y) or 1.0
    ux, uy = (other_x - x) / length, (other_y - y) / length
    # The status dot stands at the lower right: keep clear of it.
    reach = 26 if ux > 0.3 and uy > 0.3 else 18
    along = min(_RADIUS + reach, length * 0.42)
    bend = 4 * (along / length) * (1 - along / length) * bow
    # Beside the line: above a flat one, to the right of a steep one.
    is_flat = abs(ux) > abs(uy)
    px = x + ux * along - uy * bend + (0 if is_flat else 7)
    py = y + uy * along + ux * bend + (-6 if is_flat else 4)
    anchor = "middle" if is_flat else "start"
    yield (
        f'<text class="tp-port" x="{px:.1f}" y="{py:.1f}" text-anchor="{anchor}">'
        f"{_text(_cut(short_port(end.port), 12))}</text>"
    )


def _node(
    node: TopologyNode, layout: Layout, topology: TopologyView, is_working: bool
) -> str:
    x, y = layout.points[node.node_id]
    kind = kind_of(node)
    is_up = node.status == "started"
    states = f"{' is-working' if is_working else ''}{'' if is_up else ' is-stopped'}"
    spoken = ", ".join(
        [
            node.name,
            WORD[kind],
            node.status or "status unknown",
            *(["Copilot is working here"] if is_working else []),
        ]
    )
    dot = (
        f'<circle class="tp-dot" cx="{x + 14:g}" cy="{y + 14:g}" r="4.5"/>'
        if is_up
        else f'<rect class="tp-dot tp-dot--down" x="{x + 10:g}" y="{y + 10:g}" '
        'width="8" height="8" rx="1.5"/>'
    )
    return (
        f'<g class="tp-node{states}" role="img" data-node-id="{_text(node.node_id)}" '
        f'data-kind="{kind}" aria-label="{_text(spoken)}">'
        f"<title>{_text(spoken)}</title>"
        f'<rect class="tp-hit" x="{x - 40:g}" y="{y - 30:g}" width="80" height="74" '
        'fill="none" pointer-events="all"/>'
        f'<circle class="tp-halo" cx="{x:g}" cy="{y:g}" r="28"/>'
        f'<circle class="tp-sel" cx="{x:g}" cy="{y:g}" r="24"/>'
        f'<circle class="tp-ring" cx="{x:g}" cy="{y:g}" r="27"/>'
        f'<g class="tp-shape" transform="translate({x - 20:g} {y - 20:g}) scale(1.25)">'
        f"{DRAWING[kind]}</g>{dot}"
        f"{_name(node, layout, topology, is_up)}</g>"
    )


def _name(
    node: TopologyNode, layout: Layout, topology: TopologyView, is_up: bool
) -> str:
    """Below the symbol, or beside it where a line leaves downwards."""
    x, y = layout.points[node.node_id]
    side = _name_side(node, layout, topology)
    if side == "below":
        at, anchor, second = (x, y + 36.0), "middle", y + 48.0
    else:
        sign = 1 if side == "right" else -1
        at = (x + sign * 29, y + (4.0 if is_up else 0.0))
        anchor, second = ("start" if sign > 0 else "end"), y + 13.0
    lines = (
        f'<text class="tp-name" x="{at[0]:g}" y="{at[1]:g}" text-anchor="{anchor}">'
        f"{_text(_cut(node.name))}</text>"
    )
    if not is_up:
        lines += (
            f'<text class="tp-status" aria-hidden="true" x="{at[0]:g}" y="{second:g}" '
            f'text-anchor="{anchor}">{_text(_cut(node.status or "unknown"))}</text>'
        )
    return lines


def _name_side(node: TopologyNode, layout: Layout, topology: TopologyView) -> str:
    x, y = layout.points[node.node_id]
    others = [p for k, p in layout.points.items() if k != node.node_id]
    angles = [
        atan2(far[1] - y, far[0] - x)
        for far in _far_ends(node, layout, topology)
        if far != (x, y)
    ]
    width = 29 + 7.4 * len(_cut(node.name))

    def is_open(side: str) -> bool:
        direction = {"below": pi / 2, "right": 0.0, "left": pi}[side]
        if any(cos(a - direction) > cos(0.6) for a in angles):
            return False
        if side == "below":
            return True
        sign = 1 if side == "right" else -1
        edge = x + sign * width
        return 4 < edge < layout.width - 4 and not any(
            abs(oy - y) < 56 and -24 < sign * (ox - x) < width + 36 for ox, oy in others
        )

    # Not the port label's side: those of steep lines stand to the right.
    steep = any(abs(sin(a)) > 0.8 for a in angles)
    sides = ["below", "left", "right"] if steep else ["below", "right", "left"]
    return next((side for side in sides if is_open(side)), "below")


def _far_ends(
    node: TopologyNode, layout: Layout, topology: TopologyView
) -> Iterator[Point]:
    for link in topology.links:
        ids = [end.node_id for end in link.ends]
        if node.node_id in ids:
            yield from (
                layout.points[i]
                for i in ids
                if i != node.node_id and i in layout.points
            )
