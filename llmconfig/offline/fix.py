"""Carries out what a diagnosis suggests, then pings."""

from llmconfig.offline import report
from llmconfig.offline.build import build_network
from llmconfig.offline.diagnose import Pair, diagnose, diagnose_all
from llmconfig.offline.evidence import ToolResult
from llmconfig.offline.faults import Finding
from llmconfig.offline.markdown import command_block, evidence_block
from llmconfig.offline.network import Network
from llmconfig.offline.parse_ping import parse_ping
from llmconfig.offline.quotes import Quote
from llmconfig.offline.reach import pairs_asked, ping_command
from llmconfig.offline.reading import read_consoles
from llmconfig.offline.steps import Answer, Call, Step, Turn


def answer_fix(turn: Turn) -> Step:
    """Topology, consoles, the first finding's change, a ping, the answer."""
    step = turn.read_topology() or read_consoles(turn)
    if step:
        return step
    network = build_network(turn.evidence)
    pairs = pairs_asked(turn, network)
    if len(pairs) == 1:
        pair: Pair | None = pairs[0]
        findings = diagnose(network, *pairs[0]).findings
        mended = diagnose(network, *pairs[0]).mended
    else:
        pair, findings = diagnose_all(network, pairs)
        mended = network
    if not findings or pair is None:
        return turn.plain(turn.say("nothing_to_fix"))
    change = change_call(findings[0])
    if change is None:
        return turn.answer(
            turn.say("cannot_fix"), *report.finding_parts(turn, network, findings[0])
        )
    done = _done(turn, change)
    if done is None:
        return turn.call(change)
    if done.error and "devices" not in done.data:
        return turn.failed(change.tool, done.error)
    return _confirm(turn, mended, pair, findings)


def change_call(finding: Finding) -> Call | None:
    fix = finding.fix
    if fix is None or fix.action == "resume":
        return None
    if fix.action == "start":
        return Call("start_nodes", {"nodes": [fix.device]})
    entry = {"device": fix.device, "commands": list(fix.commands)}
    return Call("run_commands", {"devices": [entry]})


def _done(turn: Turn, change: Call) -> ToolResult | None:
    """What became of the change, also with lines that a person has edited."""
    for result in turn.evidence.of(change.tool):
        if change.tool != "run_commands" or _changes(result):
            return result
    return None


def _changes(result: ToolResult) -> bool:
    """All else that this answer runs are shows and pings."""
    devices = result.arguments.get("devices") or []
    lines = [line for device in devices for line in device.get("commands") or []]
    return any(not str(line).startswith(("show", "ping")) for line in lines)


def _confirm(
    turn: Turn, mended: Network, pair: Pair, findings: tuple[Finding, ...]
) -> Step:
    ping = ping_command(mended, pair)
    if ping and not turn.evidence.was_asked(*ping):
        entry = {"device": ping[0], "commands": [ping[1]]}
        return turn.call(Call("run_commands", {"devices": [entry]}))
    output = turn.evidence.output(*ping) if ping else None
    result = parse_ping(output) if output else None
    facts = {"source": pair[0], "target": str(pair[1])}
    is_mended = result is not None and result.is_reachable
    quotes = list(findings[0].quotes)
    if ping and result:
        quotes.append(Quote(ping[0], ping[1], result.line))
    return _report(turn, mended, findings, quotes, is_mended, facts)


def _report(
    turn: Turn,
    network: Network,
    findings: tuple[Finding, ...],
    quotes: list[Quote],
    is_mended: bool,
    facts: dict[str, str],
) -> Answer:
    first = findings[0]
    change = command_block(first.fix) if first.fix and first.fix.commands else ""
    errors = [result.error for result in turn.evidence.results if result.error]
    rest = [f"- {report.cause(turn, finding)}" for finding in findings[1:]]
    return turn.answer(
        turn.say("fixed" if is_mended else "fixed_not", facts),
        turn.say(f"{first.fault.value}.detail", first.facts),
        evidence_block(quotes, report.roles(network)),
        change,
        "\n".join(f"- {error}" for error in errors),
        turn.say("also") + "\n\n" + "\n".join(rest) if rest else "",
    )
