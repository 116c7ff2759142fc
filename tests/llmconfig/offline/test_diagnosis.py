import re
from collections.abc import Callable

import pytest

from tests.llmconfig.offline.labs import Lab, Router, ask, reply_from, two_router_lab

Case = tuple[Callable[[Lab], None], str, str]


def wrong_gateway(lab: Lab) -> None:
    lab.pcs["ada"] = ("10.1.1.10/24", "10.1.1.77")


def missing_gateway(lab: Lab) -> None:
    lab.pcs["ada"] = ("10.1.1.10/24", "0.0.0.0")


def wrong_mask(lab: Lab) -> None:
    lab.pcs["ada"] = ("10.1.1.10/8", "10.1.1.1")
    # Proxy ARP would hide it.
    for name, router in lab.routers.items():
        lab.routers[name] = NoProxyArp(**vars(router))


class NoProxyArp(Router):
    def _config(self) -> str:
        return super()._config().replace("!\ninterface", " no ip proxy-arp\ninterface")


def wrong_subnet(lab: Lab) -> None:
    lab.pcs["bob"] = ("10.5.5.20/24", "10.5.5.1")


def no_address(lab: Lab) -> None:
    lab.pcs["bob"] = ("0.0.0.0/0", "0.0.0.0")


def duplicate_address(lab: Lab) -> None:
    lab.pcs["cyd"] = ("10.2.2.20/24", "10.2.2.1")


def interface_down(lab: Lab) -> None:
    lab.routers["far"].down.add("FastEthernet0/0")


def wrong_interface_address(lab: Lab) -> None:
    lab.routers["far"].interfaces["FastEthernet0/0"] = "10.2.7.1/24"


def missing_route(lab: Lab) -> None:
    lab.routers["near"].routes.clear()


def missing_return_route(lab: Lab) -> None:
    lab.routers["far"].routes.clear()


def wrong_next_hop(lab: Lab) -> None:
    lab.routers["near"].routes = ["ip route 10.2.2.0 255.255.255.0 10.1.1.200"]


def acl_blocks(lab: Lab) -> None:
    lab.routers["far"].access["FastEthernet0/1"] = "150 in"
    lab.routers["far"].lists = [
        "access-list 150 deny   icmp any host 10.2.2.20",
        "access-list 150 permit ip any any",
    ]


def implicit_deny(lab: Lab) -> None:
    lab.routers["far"].access["FastEthernet0/1"] = "WEB in"
    lab.routers["far"].lists = [
        "ip access-list extended WEB",
        " permit tcp any any eq 80",
    ]


def router_stopped(lab: Lab) -> None:
    lab.stopped.add("far")


def target_stopped(lab: Lab) -> None:
    lab.stopped.add("bob")


def link_suspended(lab: Lab) -> None:
    lab.suspended.add(("near", "far"))


def link_missing(lab: Lab) -> None:
    lab.links.pop(1)


CASES: list[Case] = [
    (wrong_gateway, "wrong gateway on ada", "GATEWAY     : 10.1.1.77"),
    (missing_gateway, "ada has no gateway", "GATEWAY     : 0.0.0.0"),
    (wrong_mask, "wrong mask on ada", "IP/MASK     : 10.1.1.10/8"),
    (
        wrong_subnet,
        "bob has an address in the wrong subnet",
        "IP/MASK     : 10.5.5.20/24",
    ),
    (no_address, "bob has no address", "IP/MASK     : 0.0.0.0/0"),
    (
        duplicate_address,
        "duplicate address on cyd and bob",
        "IP/MASK     : 10.2.2.20/24",
    ),
    (
        interface_down,
        "interface FastEthernet0/0 of far is shut down",
        "FastEthernet0/0        10.2.2.1        YES NVRAM  administratively down down",
    ),
    (
        wrong_interface_address,
        "wrong interface address on far (FastEthernet0/0)",
        "ip address 10.2.7.1 255.255.255.0",
    ),
    (missing_route, "missing route on near", "% Subnet not in table"),
    (missing_return_route, "missing return route on far", "% Subnet not in table"),
    (
        wrong_next_hop,
        "wrong next hop on near",
        "ip route 10.2.2.0 255.255.255.0 10.1.1.200",
    ),
    (
        acl_blocks,
        "access list 150 on far blocks the traffic",
        "access-list 150 deny   icmp any host 10.2.2.20",
    ),
    (implicit_deny, "access list WEB on far blocks", "permit tcp any any eq 80"),
    (router_stopped, "far is stopped", '"status": "stopped"'),
    (target_stopped, "bob is stopped", '"status": "stopped"'),
    (
        link_suspended,
        "the link between near and far is suspended",
        '"suspended": true',
    ),
    (link_missing, "no link between near and far", '"a": "near"|"b": "near"'),
]


@pytest.mark.parametrize(
    ("plant", "cause", "line"), CASES, ids=[case[0].__name__ for case in CASES]
)
async def test_each_fault_is_named_with_the_line_that_shows_it(
    plant: Callable[[Lab], None], cause: str, line: str
) -> None:
    lab = two_router_lab()
    plant(lab)

    text, _ = await ask(lab, "Why can't ada reach bob?")

    headline = text.split("\n")[0]
    assert headline.startswith("**ada cannot reach bob: ")
    assert cause in headline
    assert any(part in text for part in line.split("|"))
    assert "no language model is configured" in text


@pytest.mark.parametrize(
    ("plant", "commands"),
    [
        (wrong_gateway, ["ip 10.1.1.10/24 10.1.1.1"]),
        (wrong_mask, ["ip 10.1.1.10/24 10.1.1.1"]),
        (interface_down, ["interface FastEthernet0/0", "no shutdown"]),
        (
            wrong_interface_address,
            ["interface FastEthernet0/0", "ip address 10.2.2.1 255.255.255.0"],
        ),
        (missing_return_route, ["ip route 10.1.1.0 255.255.255.0 10.9.9.1"]),
        (
            wrong_next_hop,
            [
                "no ip route 10.2.2.0 255.255.255.0 10.1.1.200",
                "ip route 10.2.2.0 255.255.255.0 10.9.9.2",
            ],
        ),
        (acl_blocks, ["interface FastEthernet0/1", "no ip access-group 150 in"]),
    ],
)
async def test_the_change_is_given_as_commands(
    plant: Callable[[Lab], None], commands: list[str]
) -> None:
    lab = two_router_lab()
    plant(lab)

    text, _ = await ask(lab, "why can ada not reach bob")

    fix = text.split("What to change on")[1]
    assert "\n".join(commands) in fix


async def test_a_healthy_path_is_confirmed_by_the_ping() -> None:
    lab = two_router_lab()
    lab.pings["ping 10.2.2.20 -c 2"] = reply_from("10.2.2.20")

    text, _ = await ask(lab, "Is ada able to reach bob?")

    assert text.startswith("**ada reaches bob.**")
    assert "ada → near → far → bob" in text
    assert f"ada> ping 10.2.2.20 -c 2\n{reply_from('10.2.2.20')}" in text


async def test_a_failing_ping_on_a_healthy_path_is_not_explained_away() -> None:
    text, _ = await ask(two_router_lab(), "Why can't ada reach bob?")

    assert text.startswith("**ada does not reach bob, and I do not see why.**")
    assert "10.2.2.20 icmp_seq=1 timeout" in text


async def test_several_faults_are_listed_with_the_first_on_the_path_first() -> None:
    lab = two_router_lab()
    wrong_gateway(lab)
    missing_return_route(lab)

    text, _ = await ask(lab, "Why can't ada reach bob?")

    assert "wrong gateway on ada" in text.split("\n")[0]
    assert "- missing return route on far" in text.split("Also:")[1]


async def test_a_fault_elsewhere_is_mentioned_after_the_one_asked_about() -> None:
    lab = two_router_lab()
    missing_route(lab)
    lab.pcs["cyd"] = ("10.2.2.30/24", "10.2.2.99")

    text, _ = await ask(lab, "Why can't ada reach bob?")

    assert "missing route on near" in text.split("\n")[0]
    assert "- wrong gateway on cyd" in text.split("Also:")[1]


async def test_without_names_the_whole_lab_is_checked() -> None:
    lab = two_router_lab()
    interface_down(lab)

    text, _ = await ask(lab, "What is wrong with the lab?")

    assert text.startswith("**Something is wrong: interface FastEthernet0/0 of far")


async def test_a_healthy_lab_is_said_to_be_fine() -> None:
    lab = two_router_lab()
    lab.pings = {
        f"ping {a} -c 2": reply_from(a) for a in ("10.2.2.20", "10.2.2.30", "10.1.1.10")
    }

    text, _ = await ask(lab, "what's wrong with this lab?")

    assert text.startswith("**I find nothing wrong in this lab.**")
    assert "Checked 3 pair(s)" in text


async def test_an_unreadable_router_is_named_with_its_error() -> None:
    lab = two_router_lab()
    lab.refused["far"] = "far does not answer on 127.0.0.1:5001: connection refused."

    text, _ = await ask(lab, "Why can't ada reach bob?")

    assert "far could not be read" in text.split("\n")[0]
    assert "connection refused" in text


async def test_an_unreadable_target_is_named() -> None:
    lab = two_router_lab()
    lab.refused["bob"] = "bob is silent."

    text, _ = await ask(lab, "Why can't ada reach bob?")

    assert "bob could not be read" in text.split("\n")[0]
    assert "bob is silent." in text


async def test_evidence_that_fits_two_causes_names_both() -> None:
    lab = two_router_lab()
    lab.pcs.pop("cyd")
    lab.links.pop()
    lab.routers["far"].routes = ["ip route 0.0.0.0 0.0.0.0 10.9.9.1"]
    lab.routers["near"].routes = ["ip route 0.0.0.0 0.0.0.0 10.9.9.2"]
    lab.pcs["bob"] = ("10.2.7.20/24", "10.2.7.1")

    text, _ = await ask(lab, "Why can't ada reach bob?")

    assert "bob has an address in the wrong subnet" in text
    assert "wrong interface address on far (FastEthernet0/0)" in text
    assert "The same output would also fit" in text


async def test_an_address_can_be_asked_about_and_nothing_in_the_lab_has_it() -> None:
    text, _ = await ask(two_router_lab(), "Why can't ada reach 10.8.8.8?")

    assert re.match(r"\*\*ada cannot reach 10\.8\.8\.8: packets stop at near", text)


async def test_every_quoted_line_comes_from_a_tool() -> None:
    for plant, _, _ in CASES:
        lab = two_router_lab()
        plant(lab)
        text, messages = await ask(lab, "Why can't ada reach bob?")
        read = "\n".join(m.text for m in messages if m.type == "tool")
        evidence = re.findall(r"```text\n(.*?)\n```", text, re.S)[0]
        for line in evidence.split("\n"):
            is_head = re.match(r"\S+[>#] |\[read_topology\]$", line)
            assert is_head or line in read or line.replace('"', '\\"') in read


def two_pcs(ada: str, bob: str) -> Lab:
    pcs = {"ada": (ada, "0.0.0.0"), "bob": (bob, "0.0.0.0")}
    return Lab(pcs, {}, [("ada", "Ethernet0", "bob", "Ethernet0")])


async def test_a_pc_that_was_never_configured_is_named() -> None:
    text, _ = await ask(two_pcs("0.0.0.0/0", "0.0.0.0/0"), "can ada reach bob?")

    assert "has no address" in text.split("\n")[0]
    assert "IP/MASK     : 0.0.0.0/0" in text


async def test_two_pcs_on_one_cable_need_one_subnet() -> None:
    text, _ = await ask(two_pcs("10.0.0.1/24", "10.0.1.2/24"), "can ada reach bob?")

    assert "ada has an address in the wrong subnet" in text.split("\n")[0]
    assert "ip 10.0.1.1/24" in text
    assert "The same output would also fit: bob has an address in the wrong" in text


async def test_a_router_interface_without_address_is_named() -> None:
    lab = two_router_lab()
    lab.routers["near"].interfaces["FastEthernet0/0"] = ""

    text, _ = await ask(lab, "Why can't ada reach bob?")

    assert "no address on near (FastEthernet0/0)" in text.split("\n")[0]
    assert "ip address 10.1.1.1 255.255.255.0" in text
