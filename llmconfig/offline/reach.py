"""Answers why a device cannot reach another, or what is wrong in a lab."""

from dataclasses import dataclass
from ipaddress import IPv4Address
from itertools import combinations

from llmconfig.offline import report
from llmconfig.offline.build import build_network
from llmconfig.offline.diagnose import Diagnosis, Pair, diagnose, diagnose_all
from llmconfig.offline.faults import Fault, Finding
from llmconfig.offline.network import Network, Role
from llmconfig.offline.parse_ping import PingResult, parse_ping
from llmconfig.offline.quotes import Quote
from llmconfig.offline.reading import read_consoles
from llmconfig.offline.steps import Calls, Step, Turn, command_calls
from llmconfig.offline.walk import main_address

MAX_PAIRS = 30
MAX_PINGS = 3


@dataclass(frozen=True)
class Proof:
    """A ping that was run, and its result."""

    source: str
    target: str
    quote: Quote
    is_reachable: bool


def answer_reach(turn: Turn) -> Step:
    """Topology, consoles, diagnosis, proof, answer."""
    step = turn.read_topology()
    if step:
        return step
    if not turn.evidence.nodes():
        return turn.plain(turn.say("empty_lab"))
    unknown = turn.question.unknown_names(turn.names)
    if unknown and len(turn.question.mentions(turn.names)) < 2:
        return turn.plain(turn.say("no_device", {"names": turn.listing}))
    step = read_consoles(turn)
    if step:
        return step
    network = build_network(turn.evidence)
    pairs = pairs_asked(turn, network)
    if not pairs:
        return turn.plain(turn.say("which_device", {"names": turn.listing}))
    if len(pairs) > 1:
        return _answer_lab(turn, network, pairs)
    diagnosis = diagnose(network, *pairs[0])
    step = prove(turn, network, pairs, diagnosis.findings)
    if step:
        return step
    others = _others(network, pairs[0], diagnosis)
    return report.path_report(
        turn, network, pairs[0], diagnosis, others, proofs(turn, network, pairs)
    )


def pairs_asked(turn: Turn, network: Network) -> list[Pair]:
    """The two named ends, one end with every PC, or every pair of PCs."""
    usable = {Role.HOST, Role.ROUTER}
    mentions = [
        mention
        for mention in turn.question.mentions(turn.names)
        if isinstance(mention, IPv4Address) or network.devices[mention].role in usable
    ]
    named = [mention for mention in mentions if isinstance(mention, str)]
    if len(mentions) >= 2 and named:
        source = named[0]
        target = next(mention for mention in mentions if mention != source)
        return [(source, target)]
    ends = [d.name for d in network.of_role(Role.HOST)]
    if len(ends) < 2:
        ends += [d.name for d in network.of_role(Role.ROUTER)]
    if named:
        those: list[Pair] = [(named[0], end) for end in ends if end != named[0]]
        return those[:MAX_PAIRS]
    if mentions and ends:
        return [(ends[0], mentions[0])]
    every: list[Pair] = list(combinations(ends, 2))
    return every[:MAX_PAIRS]


def _answer_lab(turn: Turn, network: Network, pairs: list[Pair]) -> Step:
    first, findings = diagnose_all(network, pairs)
    shown = [first] if first else pairs[:MAX_PINGS]
    step = prove(turn, network, shown, findings)
    if step:
        return step
    return report.lab_report(
        turn, network, findings, len(pairs), proofs(turn, network, shown)
    )


def _others(network: Network, asked: Pair, diagnosis: Diagnosis) -> tuple[Finding, ...]:
    """What is wrong elsewhere, once the way asked about is mended."""
    hosts = [d.name for d in network.of_role(Role.HOST) if d.is_known]
    pairs: list[Pair] = [
        (asked[0], other) for other in hosts if other not in asked and asked[0] in hosts
    ]
    if not diagnosis.trip.is_complete:
        return ()
    _, found = diagnose_all(diagnosis.mended, pairs[:MAX_PAIRS])
    skipped = {Fault.NOT_CABLED, Fault.UNEXPLAINED, Fault.UNREADABLE}
    return tuple(finding for finding in found if finding.fault not in skipped)


def ping_command(network: Network, pair: Pair) -> tuple[str, str] | None:
    """The console line that pings the target, on the device that can send it."""
    source, target = network.devices[pair[0]], pair[1]
    if isinstance(target, str):
        address = main_address(network.devices[target])
    else:
        address = target
    if address is None or not source.is_started or not source.is_known:
        return None
    if source.role is Role.HOST:
        return source.name, f"ping {address} -c 2"
    return source.name, f"ping {address}"


def prove(
    turn: Turn, network: Network, pairs: list[Pair], findings: tuple[Finding, ...]
) -> Step | None:
    """Pings, and a look into the routing table where a route is missing."""
    wanted: dict[str, list[str]] = {}
    for pair in pairs:
        ping = ping_command(network, pair)
        if ping:
            wanted.setdefault(ping[0], []).append(ping[1])
    for finding in findings[:1]:
        if finding.fault in {Fault.MISSING_ROUTE, Fault.MISSING_RETURN_ROUTE}:
            wanted.setdefault(finding.device, []).append(route_command(finding))
    missing = [
        (name, commands)
        for name, commands in wanted.items()
        if not all(turn.evidence.was_asked(name, command) for command in commands)
    ]
    if not missing or "run_commands" not in turn.tools:
        return None
    step = turn.call(*command_calls(missing))
    # Without the proof the consoles already read still make an answer.
    return step if isinstance(step, Calls) else None


def route_command(finding: Finding) -> str:
    return f"show ip route {finding.facts['address']}"


def proofs(turn: Turn, network: Network, pairs: list[Pair]) -> list[Proof]:
    found = []
    for pair in pairs:
        ping = ping_command(network, pair)
        output = turn.evidence.output(*ping) if ping else None
        result: PingResult | None = parse_ping(output) if output else None
        if ping and result:
            quote = Quote(ping[0], ping[1], result.line)
            found.append(Proof(pair[0], str(pair[1]), quote, result.is_reachable))
    return found
