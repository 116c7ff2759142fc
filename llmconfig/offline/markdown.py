"""Evidence and commands as Markdown."""

from collections.abc import Iterable

from llmconfig.offline.faults import Fix
from llmconfig.offline.network import Role
from llmconfig.offline.quotes import Quote

_PROMPTS = {Role.HOST: ">", Role.ROUTER: "#"}


def fence(text: str) -> str:
    """A text block whose fence is longer than any in the text."""
    mark = "```"
    while mark in text:
        mark += "`"
    return f"{mark}text\n{text.rstrip()}\n{mark}"


def evidence_block(quotes: Iterable[Quote], roles: dict[str, Role]) -> str:
    """The quoted lines under the device and command that printed them."""
    lines: list[str] = []
    source: tuple[str, str] | None = None
    for quote in quotes:
        if (quote.device, quote.command) != source:
            source = (quote.device, quote.command)
            lines.append(_head(quote, roles))
        lines.append(quote.line)
    return fence("\n".join(lines)) if lines else ""


def _head(quote: Quote, roles: dict[str, Role]) -> str:
    if not quote.device:
        return f"[{quote.command}]"
    prompt = _PROMPTS.get(roles.get(quote.device, Role.OTHER), ":")
    return f"{quote.device}{prompt} {quote.command}".rstrip()


def command_block(fix: Fix) -> str:
    return fence("\n".join(fix.commands))
