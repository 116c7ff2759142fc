"""Composes the answer to a diagnosis: finding, evidence, what to change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from llmconfig.offline.diagnose import Diagnosis, Target
from llmconfig.offline.faults import Finding
from llmconfig.offline.markdown import command_block, evidence_block
from llmconfig.offline.network import Network, Role, first_quotes
from llmconfig.offline.quotes import Quote
from llmconfig.offline.steps import Answer, Turn

if TYPE_CHECKING:
    from llmconfig.offline.reach import Proof

_ROUTE_ERROR = "% "


def path_report(
    turn: Turn,
    network: Network,
    pair: tuple[str, Target],
    diagnosis: Diagnosis,
    others: Sequence[Finding],
    proofs: Sequence[Proof],
) -> Answer:
    facts = {"source": pair[0], "target": str(pair[1])}
    proof = proofs[0] if proofs else None
    if not diagnosis.findings:
        return _right(turn, network, diagnosis, facts, proof, others)
    first, *rest = diagnosis.findings
    key = "ping_works_but" if proof and proof.is_reachable else "cannot_reach"
    headline = turn.say(key, {**facts, "cause": cause(turn, first)})
    return turn.answer(
        headline,
        *finding_parts(turn, network, first, proofs),
        *_also(turn, network, [*rest, *others]),
        _unread(turn, network, [first, *rest]),
    )


def lab_report(
    turn: Turn,
    network: Network,
    findings: Sequence[Finding],
    count: int,
    proofs: Sequence[Proof],
) -> Answer:
    if not findings:
        quotes = [proof.quote for proof in proofs]
        return turn.answer(
            turn.say("lab_fine"),
            turn.say("lab_fine.detail", {"count": str(count)}),
            evidence_block(quotes, roles(network)),
            _unread(turn, network, []),
        )
    first, *rest = findings
    return turn.answer(
        turn.say("lab_wrong", {"cause": cause(turn, first)}),
        *finding_parts(turn, network, first, proofs),
        *_also(turn, network, rest),
        _unread(turn, network, findings),
    )


def _right(
    turn: Turn,
    network: Network,
    diagnosis: Diagnosis,
    facts: dict[str, str],
    proof: Proof | None,
    others: Sequence[Finding],
) -> Answer:
    hops = diagnosis.trip.there.hops
    key = "config_right" if proof is None else "ping_unexplained"
    if proof and proof.is_reachable:
        key = "reaches"
    quotes = [*_path_quotes(network, hops), *([proof.quote] if proof else [])]
    return turn.answer(
        turn.say(key, facts),
        turn.say(f"{key}.detail", {"path": " → ".join(hops)}),
        evidence_block(quotes, roles(network)),
        *_also(turn, network, others),
        _unread(turn, network, []),
    )


def _path_quotes(network: Network, hops: Sequence[str]) -> tuple[Quote, ...]:
    """The address lines of the devices on the path."""
    quotes: list[Quote | None] = []
    for name in hops:
        device = network.devices[name]
        if device.role is Role.HOST:
            quotes += [q for i in device.addressed for q in i.shown("address")]
            quotes.append(device.quotes.get("gateway"))
    return first_quotes(quotes)


def cause(turn: Turn, finding: Finding) -> str:
    return turn.say(finding.fault.value, finding.facts)


def finding_parts(
    turn: Turn, network: Network, finding: Finding, proofs: Sequence[Proof] = ()
) -> list[str]:
    """What is wrong, the lines that show it, and the change."""
    quotes = [*finding.quotes, *_route_quotes(turn, finding)]
    quotes += [proof.quote for proof in proofs]
    return [
        turn.say(f"{finding.fault.value}.detail", finding.facts),
        evidence_block(first_quotes(quotes), roles(network)),
        *fix_parts(turn, finding),
        *_alternative_parts(turn, network, finding.alternative),
    ]


def _alternative_parts(
    turn: Turn, network: Network, other: Finding | None
) -> list[str]:
    """What the same lines would also fit: the reader knows which is meant."""
    if other is None:
        return []
    detail = turn.say(f"{other.fault.value}.detail", other.facts)
    headline = turn.say("either", {"cause": cause(turn, other)})
    return [
        f"{headline}. {detail}",
        evidence_block(first_quotes(other.quotes), roles(network)),
        *fix_parts(turn, other),
    ]


def fix_parts(turn: Turn, finding: Finding) -> list[str]:
    fix = finding.fix
    if fix is None:
        return []
    if fix.action:
        return [turn.say(fix.action, finding.facts)]
    return [turn.say("fix_on", {"device": fix.device}), command_block(fix)]


def _route_quotes(turn: Turn, finding: Finding) -> list[Quote]:
    """What the router answered when asked for the missing route."""
    command = f"show ip route {finding.facts.get('address', '')}"
    output = turn.evidence.output(finding.device, command) or ""
    lines = [line.strip() for line in output.splitlines()]
    return [
        Quote(finding.device, command, line)
        for line in lines
        if line.startswith(_ROUTE_ERROR)
    ]


def _also(turn: Turn, network: Network, findings: Sequence[Finding]) -> list[str]:
    if not findings:
        return []
    items = [f"- {cause(turn, finding)}" for finding in findings]
    quotes = first_quotes(quote for f in findings for quote in f.quotes)
    return [
        turn.say("also") + "\n\n" + "\n".join(items),
        evidence_block(quotes, roles(network)),
    ]


def _unread(turn: Turn, network: Network, findings: Sequence[Finding]) -> str:
    """The devices that run but gave no answer."""
    told = {finding.device for finding in findings}
    items = [
        f"- {device.name}: {device.problem or '–'}"
        for device in network.devices.values()
        if device.role in {Role.HOST, Role.ROUTER}
        and device.is_started
        and not device.is_known
        and device.name not in told
    ]
    return turn.say("not_read") + "\n\n" + "\n".join(items) if items else ""


def roles(network: Network) -> dict[str, Role]:
    return {name: device.role for name, device in network.devices.items()}
