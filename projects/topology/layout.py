"""Where each device stands: GNS3's own positions, scaled, without overlaps."""

from dataclasses import dataclass
from math import hypot, isfinite, sqrt

from projects.topology.symbols import kind_of
from projects.topology.view import TopologyNode, TopologyView

# A device with its name below needs this much room.
BOX_WIDTH = 96.0
BOX_HEIGHT = 78.0
MARGIN = 48.0
MIN_WIDTH = 400.0
MIN_HEIGHT = 260.0
_ROWS = {"cloud": 0, "firewall": 1, "router": 1, "switch": 2, "hub": 2}
_LAST_ROW = 3


@dataclass(frozen=True)
class Layout:
    """Centre of each device by node id, inside width × height."""

    width: float
    height: float
    points: dict[str, tuple[float, float]]


def lay_out(topology: TopologyView) -> Layout:
    nodes = {node.node_id: node for node in topology.nodes}
    if not nodes:
        return Layout(MIN_WIDTH, MIN_HEIGHT, {})
    wanted = _scaled(nodes) if _has_positions(nodes) else _layered(nodes, topology)
    return _framed(_spread(wanted))


def _has_positions(nodes: dict[str, TopologyNode]) -> bool:
    spots = {(node.x, node.y) for node in nodes.values()}
    return len(nodes) == 1 or len(spots) * 2 > len(nodes)


def _coordinate(value: float) -> float:
    return max(-1e5, min(1e5, value)) if isfinite(value) else 0.0


def _scaled(nodes: dict[str, TopologyNode]) -> dict[str, tuple[float, float]]:
    """Draw the closest neighbours a good box apart, as far as the frame allows."""
    spots = {k: (_coordinate(n.x), _coordinate(n.y)) for k, n in nodes.items()}
    xs, ys = zip(*spots.values(), strict=True)
    columns = max(2.0, 1.6 * sqrt(len(nodes)))
    frame = min(
        columns * BOX_WIDTH * 2.8 / max(max(xs) - min(xs), 1.0),
        columns * BOX_HEIGHT * 2.8 / max(max(ys) - min(ys), 1.0),
    )
    scale = min(frame, 1.2 * _scale_without_overlap(list(spots.values())))
    return {
        key: ((x - min(xs)) * scale, (y - min(ys)) * scale)
        for key, (x, y) in spots.items()
    }


def _scale_without_overlap(spots: list[tuple[float, float]]) -> float:
    # Quadratic, so only the first devices of a huge lab set the scale.
    spots = spots[:300]
    scale = 0.0
    for i, (x, y) in enumerate(spots):
        for other_x, other_y in spots[:i]:
            dx, dy = abs(x - other_x), abs(y - other_y)
            if dx >= 1 or dy >= 1:
                needed = min(BOX_WIDTH / max(dx, 1e-9), BOX_HEIGHT / max(dy, 1e-9))
                scale = max(scale, needed)
    return scale or 1.0


def _layered(
    nodes: dict[str, TopologyNode], topology: TopologyView
) -> dict[str, tuple[float, float]]:
    """Rows by kind (clouds, routers, switches, hosts), each under its neighbours."""
    rows: dict[int, list[str]] = {}
    for key, node in nodes.items():
        rows.setdefault(_ROWS.get(kind_of(node), _LAST_ROW), []).append(key)
    neighbours = _neighbours(topology)
    placed: dict[str, tuple[float, float]] = {}
    line = 0
    for row in sorted(rows):
        keys = sorted(rows[row], key=lambda key: _mean_x(neighbours, placed, key))
        per_line = max(4, round(2 * sqrt(len(keys))))
        for start in range(0, len(keys), per_line):
            part = keys[start : start + per_line]
            for column, key in enumerate(part):
                offset = column - (len(part) - 1) / 2
                placed[key] = (offset * BOX_WIDTH * 1.3, line * BOX_HEIGHT * 1.2)
            line += 1
    return placed


def _neighbours(topology: TopologyView) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for link in topology.links:
        ids = {end.node_id for end in link.ends}
        for node_id in ids:
            found.setdefault(node_id, set()).update(ids - {node_id})
    return found


def _mean_x(
    neighbours: dict[str, set[str]], placed: dict[str, tuple[float, float]], key: str
) -> float:
    known = [placed[other][0] for other in neighbours.get(key, ()) if other in placed]
    return sum(known) / len(known) if known else 0.0


def _spread(wanted: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Keep each position that is free; move the others to the nearest free cell."""
    taken: dict[tuple[int, int], list[tuple[float, float]]] = {}
    points: dict[str, tuple[float, float]] = {}
    crowded = []
    for key, point in wanted.items():
        if _is_free(taken, point):
            _take(taken, point)
            points[key] = point
        else:
            crowded.append(key)
    for key in crowded:
        point = _nearest_free(taken, wanted[key], len(wanted))
        _take(taken, point)
        points[key] = point
    return points


def _cell(point: tuple[float, float]) -> tuple[int, int]:
    return int(point[0] // BOX_WIDTH), int(point[1] // BOX_HEIGHT)


def _take(
    taken: dict[tuple[int, int], list[tuple[float, float]]],
    point: tuple[float, float],
) -> None:
    taken.setdefault(_cell(point), []).append(point)


def _is_free(
    taken: dict[tuple[int, int], list[tuple[float, float]]],
    point: tuple[float, float],
) -> bool:
    column, row = _cell(point)
    return not any(
        abs(x - point[0]) < BOX_WIDTH and abs(y - point[1]) < BOX_HEIGHT
        for c in (column - 1, column, column + 1)
        for r in (row - 1, row, row + 1)
        for x, y in taken.get((c, r), ())
    )


def _nearest_free(
    taken: dict[tuple[int, int], list[tuple[float, float]]],
    point: tuple[float, float],
    count: int,
) -> tuple[float, float]:
    # Each placed device blocks at most nine cells around it, so a ring of this
    # radius always has a free one.
    for radius in range(1, 3 * count + 2):
        ring = [
            (point[0] + dx * BOX_WIDTH, point[1] + dy * BOX_HEIGHT)
            for dx in range(-radius, radius + 1)
            for dy in range(-radius, radius + 1)
            if max(abs(dx), abs(dy)) == radius
        ]
        ring.sort(key=lambda p: hypot(p[0] - point[0], p[1] - point[1]))
        for candidate in ring:
            if _is_free(taken, candidate):
                return candidate
    raise AssertionError("a ring wider than all devices has a free cell")


def _framed(points: dict[str, tuple[float, float]]) -> Layout:
    """Move everything into a frame with a margin, centred when it is small."""
    xs = [x for x, _ in points.values()]
    ys = [y for _, y in points.values()]
    inner_width, inner_height = max(xs) - min(xs), max(ys) - min(ys)
    width = max(MIN_WIDTH, inner_width + 2 * (MARGIN + BOX_WIDTH / 4))
    height = max(MIN_HEIGHT, inner_height + 2 * MARGIN + 24)
    left = (width - inner_width) / 2 - min(xs)
    top = (height - inner_height) / 2 - min(ys) - 4
    return Layout(
        round(width, 1),
        round(height, 1),
        {
            key: (round(x + left, 1), round(y + top, 1))
            for key, (x, y) in points.items()
        },
    )
