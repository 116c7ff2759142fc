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
    if turn.evidence.of("run_commands"):
        return None
    running = [n for n in turn.evidence.nodes() if n.get("status") == "started"]
    hosts = [str(n.get("name", "")) for n in running if role_of(n) is Role.HOST]
    routers = [str(n.get("name", "")) for n in running if role_of(n) is Role.ROUTER]
    # What was asked about is read in any case.
    asked = turn.question.mentions(turn.names)
    hosts.sort(key=lambda name: name not in asked)
    routers = routers[:MAX_DEVICES]
    hosts = hosts[: max(MAX_DEVICES - len(routers), 10)]
    if not (hosts or routers):
        return None
    wanted = [(name, HOST_COMMANDS) for name in hosts]
    wanted_routers = [(name, ROUTER_COMMANDS) for name in routers]
    return turn.call(
        *command_calls(wanted, size=HOSTS_PER_CALL),
        *command_calls(wanted_routers, size=ROUTERS_PER_CALL),
    )
