"""Fixed texts and tables of the simulated PC's console."""

from __future__ import annotations

from projects.demolab.model import Node

VERSION = """
Welcome to Virtual PC Simulator, SIMULATED LAB (not a real VPCS), version 0.8
This PC is part of the simulated lab; it computes the network instead of running it.
"""

HELP = """
?                        Print help
arp                      Shortcut for: show arp. Show arp table
clear [arguments]        Clear IPv4, arp cache, command history
dhcp [-options]          Shortcut for: ip dhcp. Get IPv4 address via DHCP
echo <text>              Display <text> in output
help                     Print help
history                  Shortcut for: show history. List the command history
ip [arguments]           Configure VPC's IP settings
ping <host> [-options]   Ping the network <host> with ICMP (default) or TCP/UDP
save [filename]          Save the configuration to the file startup.vpc
set [arguments]          Set VPC name
show [arguments]         Print the information of VPCs (default). Try show ?
sleep <seconds> [text]   Print <text> and pause for <seconds>
trace <host> [-options]  Print the path packets take to network <host>
version                  Shortcut for: show version

To get command syntax help, please enter '?' as an argument of the command.
"""

SHOW_HELP = """
show [arp|echo|history|ip [all]|ipv6|version]
    arp                 Show arp table
    echo                Show the status of the echo flag
    history             List the command history
    ip [all]            Show IPv4 details
    ipv6                Show IPv6 details
    version             Show the version information
"""

CLEAR_HELP = """
clear [ip|ipv6|arp|neighbor|hist]
  Clear ip/ipv6 address, arp/neighbor table, command history
"""

SET_HELP = """
set [pcname|echo|dump]
  Set hostname
    pcname <name>   set the hostname of the current VPC
"""

IP_HELP = """
ip [arguments]
  Configure the current VPC's IP settings
  arguments:
    <address> [/<mask>] [<gateway>]
    <address> [<gateway>] [/<mask>]
                   Set the VPC's ip, default gateway ip and network mask
                   Default IPv4 mask is /24.
                   ip 10.1.1.70 /26 10.1.1.65 set the VPC's ip to 10.1.1.70,
                   the gateway to 10.1.1.65, the netmask to 255.255.255.192.
                   </mask> may be written as /26, 26 or 255.255.255.192
    dhcp           Attempt to obtain IPv4 address, mask, gateway, DNS via DHCP
    mtu <value>    Set IPv4 MTU to <value>, at least 576.
"""

PING_HELP = """
ping <host> [-options]
  Ping the network <host>. <host> can be an ip address
    options:
     -1             ICMP mode, default
     -2             UDP mode
     -3             TCP mode
     -c <count>     packet count, default 5
     -l <size>      data size
     -T <ttl>       set TTL, default 64
     -t             send packet until interrupt by Ctrl+C

  Note: Use Ctrl+C to stop the command.
"""

TRACE_HELP = """
trace <host> [-options]
  Print the path packets take to the network <host>
    options:
     -m <ttl>       Maximum <ttl>, default 8
"""


def show_ip(node: Node) -> str:
    assert node.host is not None
    lport = 10000 + 2 * int(node.ports[0].mac[-2:], 16)
    return (
        f"\nNAME        : {node.host.pcname}[1]\n"
        f"IP/MASK     : {_address(node)}\n"
        f"GATEWAY     : {_gateway(node)}\n"
        f"DNS         : \n"
        f"MAC         : {node.ports[0].mac}\n"
        f"LPORT       : {lport}\n"
        f"RHOST:PORT  : 127.0.0.1:{lport + 1}\n"
        f"MTU         : {node.host.mtu}\n"
    )


def show_ip_all(node: Node) -> str:
    assert node.host is not None
    head = f"{'NAME':<7}{'IP/MASK':<21}{'GATEWAY':<18}{'MAC':<19}DNS\n"
    return (
        f"\n{head}{node.host.pcname[:6]:<6} {_address(node):<20} "
        f"{_gateway(node):<17} {node.ports[0].mac}  \n"
    )


def show(node: Node) -> str:
    assert node.host is not None
    lport = 10000 + 2 * int(node.ports[0].mac[-2:], 16)
    head = (
        f"{'NAME':<7}{'IP/MASK':<21}{'GATEWAY':<18}{'MAC':<19}{'LPORT':<7}RHOST:PORT\n"
    )
    return (
        f"\n{head}{node.host.pcname[:6]:<6} {_address(node):<20} {_gateway(node):<17} "
        f"{node.ports[0].mac}  {lport:<6} 127.0.0.1:{lport + 1}\n"
        f"       {_link_local(node)}/64\n"
    )


def show_ipv6(node: Node) -> str:
    assert node.host is not None
    return (
        f"\nNAME              : {node.host.pcname}[1]\n"
        f"LINK-LOCAL SCOPE  : {_link_local(node)}/64\n"
        f"GLOBAL SCOPE      : \n"
        f"MAC               : {node.ports[0].mac}\n"
    )


def _address(node: Node) -> str:
    assert node.host is not None
    return str(node.host.address) if node.host.address else "0.0.0.0/0"


def _gateway(node: Node) -> str:
    assert node.host is not None
    return str(node.host.gateway or "0.0.0.0")


def _link_local(node: Node) -> str:
    digits = node.ports[0].mac.replace(":", "")
    return f"fe80::250:79ff:fe{digits[6:8]}:{digits[8:]}"
