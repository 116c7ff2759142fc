import re
from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projects.topology.layout import BOX_HEIGHT, BOX_WIDTH, lay_out
from projects.topology.svg import render_svg, short_port
from projects.topology.symbols import kind_of
from projects.topology.view import (
    TopologyEnd,
    TopologyLink,
    TopologyNode,
    TopologyView,
)

NS = "{http://www.w3.org/2000/svg}"
coordinates = st.one_of(st.integers(-3000, 3000), st.floats(), st.just(0))


def lab(
    *names: str, links: tuple[TopologyLink, ...] = (), is_simulated: bool = False
) -> TopologyView:
    nodes = tuple(
        TopologyNode(name, name, "vpcs", "started", 150 * i, 0)
        for i, name in enumerate(names)
    )
    return TopologyView("Lab", nodes, links, is_simulated)


def wire(a: str, b: str, *, port: str = "", is_suspended: bool = False) -> TopologyLink:
    ends = (TopologyEnd(a, port), TopologyEnd(b, port))
    return TopologyLink(f"{a}-{b}", ends, is_suspended)


@st.composite
def views(draw: st.DrawFn) -> TopologyView:
    count = draw(st.integers(0, 12))
    nodes = tuple(
        TopologyNode(
            str(i),
            draw(st.text(max_size=40)),
            draw(st.sampled_from(["vpcs", "dynamips", "cloud", "qemu", "?", ""])),
            draw(st.sampled_from(["started", "stopped", "suspended", ""])),
            draw(coordinates),
            draw(coordinates),
            draw(st.text(max_size=10)),
        )
        for i in range(count)
    )
    ends = st.builds(TopologyEnd, st.integers(0, 14).map(str), st.text(max_size=20))
    links = st.builds(
        TopologyLink,
        st.text(max_size=5),
        st.lists(ends, max_size=3).map(tuple),
        st.booleans(),
    )
    return TopologyView(
        draw(st.text(max_size=40)),
        nodes,
        tuple(draw(st.lists(links, max_size=12))),
        draw(st.booleans()),
    )


@given(views())
@settings(max_examples=150, deadline=None)
def test_every_name_and_position_gives_valid_xml_without_script(
    view: TopologyView,
) -> None:
    root = ElementTree.fromstring(render_svg(view))

    assert {element.tag.removeprefix(NS) for element in root.iter()} <= {
        *("svg", "style", "rect", "g", "path", "text", "title", "circle"),
    }
    for element in root.iter():
        assert not [name for name in element.attrib if name.startswith("on")]
        assert "href" not in element.attrib


@given(views())
@settings(max_examples=150, deadline=None)
def test_no_two_devices_overlap_and_all_stand_inside(view: TopologyView) -> None:
    layout = lay_out(view)

    for (x1, y1), (x2, y2) in combinations(layout.points.values(), 2):
        # Positions are rounded to a tenth.
        assert abs(x1 - x2) > BOX_WIDTH - 0.3 or abs(y1 - y2) > BOX_HEIGHT - 0.3
    for x, y in layout.points.values():
        assert 20 <= x <= layout.width - 20
        assert 20 <= y <= layout.height - 40


def test_devices_of_a_huge_lab_at_one_spot_are_spread_in_time() -> None:
    nodes = tuple(TopologyNode(str(i), f"R{i}", "iou", "started") for i in range(400))

    layout = lay_out(TopologyView("Big", nodes, ()))

    assert len(set(layout.points.values())) == 400
    assert layout.width < 9000
    assert layout.height < 9000


def test_a_chain_of_devices_stays_a_chain() -> None:
    layout = lay_out(lab(*(f"R{i}" for i in range(10))))

    assert len({y for _, y in layout.points.values()}) == 1
    xs = [x for x, _ in layout.points.values()]
    assert xs == sorted(xs)


def test_without_positions_routers_stand_above_switches_above_pcs() -> None:
    nodes = (
        TopologyNode("p", "PC1", "vpcs", "started"),
        TopologyNode("s", "SW1", "ethernet_switch", "started"),
        TopologyNode("r", "R1", "dynamips", "started"),
    )

    points = lay_out(TopologyView("Lab", nodes, (wire("p", "s"),))).points

    assert points["r"][1] < points["s"][1] < points["p"][1]


def test_text_of_a_lab_is_escaped() -> None:
    payload = "<script>alert(1)</script>\"'&\x00"

    svg = render_svg(TopologyView(payload, lab(payload).nodes, ()))

    assert "<script" not in svg
    assert "\x00" not in svg
    assert "&lt;script&gt;" in svg


def test_suspended_links_are_dashed_and_ports_are_labelled() -> None:
    links = (wire("A", "B", port="FastEthernet0/0", is_suspended=True), wire("B", "C"))

    root = ElementTree.fromstring(render_svg(lab("A", "B", "C", links=links)))

    classes = [path.get("class") for path in root.iter(f"{NS}path")]
    assert classes.count("tp-link tp-link--off") == 1
    assert classes.count("tp-link") == 1
    ports = [t.text for t in root.iter(f"{NS}text") if t.get("class") == "tp-port"]
    assert ports == ["Fa0/0", "Fa0/0"]


def test_parallel_links_do_not_lie_on_each_other() -> None:
    root = ElementTree.fromstring(
        render_svg(lab("A", "B", links=(wire("A", "B"), wire("B", "A"))))
    )

    paths = [p.get("d") for p in root.iter(f"{NS}path") if p.get("data-link-id")]
    curves = {tuple(sorted(re.findall(r"Q[\d.-]+ [\d.-]+", p or ""))) for p in paths}
    assert len(curves) == 2


def test_device_is_named_for_a_screen_reader_with_type_and_status() -> None:
    svg = render_svg(lab("PC1", is_simulated=True), highlight=["PC1"])

    assert 'aria-label="PC1, PC, started, Copilot is working here"' in svg
    assert "Topology of Lab: 1 device, 0 links, simulated lab" in svg
    assert "tp-node is-working" in svg
    assert ">Simulated lab<" in svg


def test_a_theme_can_be_fixed() -> None:
    assert "prefers-color-scheme" in render_svg(lab("A"))
    assert "prefers-color-scheme" not in render_svg(lab("A"), theme="dark")


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("FastEthernet0/0", "Fa0/0"),
        ("GigabitEthernet1/0", "Gi1/0"),
        ("Ethernet0", "e0"),
        ("eth0", "eth0"),
        ("", ""),
        ("port", "port"),
    ],
)
def test_port_names_are_shortened(name: str, short: str) -> None:
    assert short_port(name) == short


@pytest.mark.parametrize(
    ("node_type", "device_type", "kind"),
    [
        ("vpcs", "", "pc"),
        ("iou", "Layer 2 switch", "switch"),
        ("dynamips", "", "router"),
        ("qemu", "Firewall", "firewall"),
        ("qemu", "", "server"),
        ("nat", "", "cloud"),
    ],
)
def test_symbol_follows_type_and_template(
    node_type: str, device_type: str, kind: str
) -> None:
    node = TopologyNode("1", "X", node_type, "started", device_type=device_type)
    assert kind_of(node) == kind
