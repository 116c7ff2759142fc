"""Random plans hold together."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from projects.demolab.generate import build
from projects.demolab.model import NodeType
from projects.demolab.plans import random_plan


@given(st.integers())
def test_names_macs_and_networks_are_unique(seed: int) -> None:
    plan = random_plan(random.Random(seed))
    network = build(plan, str(seed))

    names = [node.name for node in network.nodes.values()]
    macs = [p.mac for n in network.nodes.values() for p in n.ports if p.mac]
    networks = [lan.network for lan in plan.lans] + [t.network for t in plan.transits]
    hosts = sum(len(lan.hosts) for lan in plan.lans)
    assert len(names) == len(set(names))
    assert len(names) == (len(plan.routers) + len(plan.lans) + hosts + len(plan.extras))
    assert len(macs) == len(set(macs))
    assert not any(a.overlaps(b) for i, a in enumerate(networks) for b in networks[:i])
    assert all(net.is_private and 24 <= net.prefixlen <= 30 for net in networks)


@given(st.integers())
def test_plans_have_the_promised_sizes(seed: int) -> None:
    plan = random_plan(random.Random(seed))

    assert 1 <= len(plan.routers) <= 4
    assert 2 <= sum(len(lan.hosts) for lan in plan.lans) <= 6


def test_plans_vary() -> None:
    plans = [random_plan(random.Random(seed)) for seed in range(60)]

    assert {len(plan.routers) for plan in plans} == {1, 2, 3, 4}
    assert any(len(p.transits) == len(p.routers) > 1 for p in plans)
    kinds = {node_type for plan in plans for node_type, _ in plan.extras}
    assert kinds == set(NodeType)
