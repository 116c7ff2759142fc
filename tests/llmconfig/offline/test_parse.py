from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from hypothesis import given
from hypothesis import strategies as st

from llmconfig.offline import parse_ios, parse_vpcs
from llmconfig.offline.acl import judge, parse_rule
from llmconfig.offline.parse_ping import parse_ping

SHOW_IP = """
NAME        : VPCS[1]
IP/MASK     : 10.0.0.1/24
GATEWAY     : 10.0.0.2
DNS         :
MAC         : 00:50:79:66:68:01
MTU:        : 1500
"""
BRIEF = """\
Interface                  IP-Address      OK? Method Status                Protocol
FastEthernet0/0            10.0.1.254      YES NVRAM  up                    up
FastEthernet0/1            10.0.12.1       YES manual administratively down down
Loopback0                  unassigned      YES unset  up                    up
"""
OLD_ROUTES = """\
Gateway of last resort is 10.0.12.2 to network 0.0.0.0

     10.0.0.0/24 is subnetted, 2 subnets
C       10.0.1.0 is directly connected, FastEthernet0/0
S       10.0.2.0 [1/0] via 10.0.12.2
O IA 192.168.7.0/24 [110/3] via 10.0.12.2, 00:01:02, FastEthernet0/1
S*   0.0.0.0/0 [1/0] via 10.0.12.2
"""
CONFIG = """\
interface FastEthernet0/0
 description LAN
 ip address 10.0.1.254 255.255.255.0
 ip access-group 101 in
 no ip proxy-arp
!
interface FastEthernet0/1
 ip address 10.0.12.1 255.255.255.252
 shutdown
!
ip route 10.0.2.0 255.255.255.0 10.0.12.2
access-list 101 deny   icmp 10.0.1.0 0.0.0.255 host 10.0.2.10 echo
access-list 101 permit ip any any
ip access-list extended NAMED
 permit tcp any any eq 80
 deny   ip any any
end
"""


def test_show_ip_gives_address_and_gateway_with_their_lines() -> None:
    found = parse_vpcs.parse_show_ip(SHOW_IP)

    assert found is not None
    assert found.address == IPv4Interface("10.0.0.1/24")
    assert found.gateway == IPv4Address("10.0.0.2")
    assert found.address_line == "IP/MASK     : 10.0.0.1/24"
    assert found.gateway_line == "GATEWAY     : 10.0.0.2"


def test_a_pc_without_address_has_none() -> None:
    text = "IP/MASK     : 0.0.0.0/0\nGATEWAY     : 0.0.0.0\n"

    found = parse_vpcs.parse_show_ip(text)

    assert found is not None
    assert found.address is None
    assert found.gateway is None


def test_arp_tables_of_both_dialects_are_read() -> None:
    vpcs = "00:50:79:66:68:02  10.0.0.2 expires in 118 seconds"
    ios = (
        "Internet  10.0.0.3   5   ca01.0a00.0000  ARPA   FastEthernet0/0\n"
        "Internet  10.0.0.4   0   Incomplete      ARPA"
    )

    assert parse_vpcs.parse_arp(vpcs)[0].address == IPv4Address("10.0.0.2")
    assert [e.address for e in parse_ios.parse_arp(ios)] == [IPv4Address("10.0.0.3")]


def test_interface_brief_tells_shut_from_up() -> None:
    up, shut, bare = parse_ios.parse_interface_brief(BRIEF)

    assert up.is_up
    assert shut.is_shut
    assert not shut.is_up
    assert bare.address is None


def test_routes_take_the_mask_from_the_line_above_when_they_have_none() -> None:
    connected, static, learnt, default = parse_ios.parse_routes(OLD_ROUTES)

    assert connected.network == IPv4Network("10.0.1.0/24")
    assert static.next_hop == IPv4Address("10.0.12.2")
    assert learnt.network == IPv4Network("192.168.7.0/24")
    assert default.network == IPv4Network("0.0.0.0/0")


def test_running_config_gives_interfaces_routes_and_rules() -> None:
    config = parse_ios.parse_running_config(CONFIG)

    lan, transit = config.interfaces.values()
    assert lan.address == IPv4Interface("10.0.1.254/24")
    assert lan.acl_in == "101"
    assert not lan.has_proxy_arp
    assert transit.is_shut
    assert config.routes[0].next_hop == IPv4Address("10.0.12.2")
    assert [name for name, _ in config.rules] == ["101", "101", "NAMED", "NAMED"]


def test_an_access_list_is_applied_in_order_and_ends_in_deny() -> None:
    here, there, other = (IPv4Address(f"10.0.{i}.10") for i in (1, 2, 3))
    rules = [rule for name, rule in parse_ios.parse_running_config(CONFIG).rules]
    numbered, named = rules[:2], rules[2:3]

    assert judge(numbered, here, there, "echo") == (False, numbered[0])
    assert judge(numbered, here, there, "echo-reply") == (True, numbered[1])
    assert judge(numbered, here, other, "echo") == (True, numbered[1])
    assert judge(named, here, there, "echo") == (False, None)
    assert judge([], here, there, "echo") == (True, None)


def test_show_access_lists_is_read_with_sequence_numbers_and_matches() -> None:
    text = (
        "Extended IP access list 101\n"
        "    10 deny icmp any any (5 matches)\n"
        "    20 permit ip any any\n"
        "Standard IP access list 7\n"
        "    10 deny   10.0.1.0, wildcard bits 0.0.0.255\n"
    )

    rules = parse_ios.parse_access_lists(text)

    assert [(name, rule.is_permit) for name, rule in rules] == [
        ("101", False),
        ("101", True),
        ("7", False),
    ]
    assert rules[2][1].source.covers(IPv4Address("10.0.1.77"))
    assert rules[0][1].line == "10 deny icmp any any (5 matches)"


def test_pings_of_both_dialects_are_told_apart() -> None:
    refused = (
        "*10.0.1.254 icmp_seq=1 ttl=255 time=9 ms "
        "(ICMP type:3, code:1, Destination host unreachable)"
    )
    results = {
        "84 bytes from 10.0.0.2 icmp_seq=1 ttl=64 time=0.3 ms": True,
        "10.0.0.2 icmp_seq=1 timeout": False,
        "host (10.0.0.2) not reachable": False,
        refused: False,
        "No gateway found": False,
        "Success rate is 80 percent (4/5), round-trip min/avg/max = 1/2/4 ms": True,
        "Success rate is 0 percent (0/5)": False,
    }

    for text, is_reachable in results.items():
        found = parse_ping(f"\n{text}\n")
        assert found is not None
        assert found.is_reachable is is_reachable
        assert found.line == text


LINES = st.sampled_from([*SHOW_IP, BRIEF, OLD_ROUTES, CONFIG, " ", "\n", "ip route "])
TEXTS = st.one_of(
    st.text(), st.lists(LINES | st.text(max_size=9), max_size=12).map("".join)
)


@given(TEXTS)
def test_parsers_never_raise(text: str) -> None:
    parse_vpcs.parse_show_ip(text)
    parse_vpcs.parse_arp(text)
    parse_ios.parse_arp(text)
    parse_ios.parse_interface_brief(text)
    parse_ios.parse_routes(text)
    parse_ios.parse_running_config(text)
    parse_ios.parse_access_lists(text)
    parse_rule(text, line=text, command="")
    parse_ping(text)
