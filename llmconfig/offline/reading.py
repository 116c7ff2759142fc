"""Reads the consoles that a diagnosis needs."""

from llmconfig.offline.build import HOST_COMMANDS, ROUTER_COMMANDS, role_of
from llmconfig.offline.network import Role
from llmconfig.offline.steps import Step, Turn, command_calls

# More are not read at once: the answer names what it rests on.
MAX_DEVICES = 40
# A call's result is cut when it is too long: routers print much, PCs little.
ROUTERS_PER_CALL = 4
HOSTS_PER_CALL = 15


def read_consoles(turn: Turn) -> Step | None:
    """PCs and routers in parallel calls; None when that has been done."""
    hosts, routers = [], []
    for node in turn.evidence.nodes():
        role, name = role_of(node), str(node.get("name", ""))
        if node.get("status") != "started":
            continue
        if role is Role.HOST and not turn.evidence.was_asked(name, HOST_COMMANDS[0]):
            hosts.append(name)
        if role is Role.ROUTER and not turn.evidence.was_asked(
            name, ROUTER_COMMANDS[0]
        ):
            routers.append(name)
    routers = routers[:MAX_DEVICES]
    hosts = hosts[: MAX_DEVICES - len(routers)]
    already = turn.evidence.of("run_commands")
    if already or not (hosts or routers):
        return None
    wanted = [(name, HOST_COMMANDS) for name in hosts]
    wanted_routers = [(name, ROUTER_COMMANDS) for name in routers]
    return turn.call(
        *command_calls(wanted, size=HOSTS_PER_CALL),
        *command_calls(wanted_routers, size=ROUTERS_PER_CALL),
    )
