"""What the commands of VPCS do. Some reach the host GNS3 runs on: those are refused."""

from collections.abc import Sequence

from projects.consoles.effect import Effect, expand, worst

READ, CHANGE, REFUSED = Effect.READ, Effect.CHANGE, Effect.REFUSED

VERBS = {
    "arp": READ,
    "clear": CHANGE,
    "dhcp": CHANGE,
    "disconnect": REFUSED,
    "echo": READ,
    "exit": REFUSED,
    "help": READ,
    "history": READ,
    "ip": CHANGE,
    "load": CHANGE,
    "ping": READ,
    "quit": REFUSED,
    "relay": REFUSED,
    "rlogin": REFUSED,
    "save": CHANGE,
    "set": CHANGE,
    "show": READ,
    "sleep": READ,
    "trace": READ,
    "tracer": READ,
    "tracert": READ,
    "traceroute": READ,
    "version": READ,
}
# They re-wire the PC to the emulator, or to another machine.
WIRING = ("lport", "rport", "rhost")


def classify(words: Sequence[str]) -> Effect:
    verb, arguments = words[0], words[1:]
    if verb in ("?", "help"):
        return READ
    # `!` runs a shell command on the host; a digit leads to another PC.
    if verb.startswith("!") or verb.isdigit():
        return REFUSED
    verbs = expand(verb, VERBS)
    if not verbs:
        return CHANGE
    return worst(_classify_verb(name, arguments) for name in verbs)


def _classify_verb(verb: str, arguments: Sequence[str]) -> Effect:
    effect = VERBS[verb]
    if effect is not REFUSED and list(arguments) == ["?"]:
        return READ
    if verb == "set" and arguments and expand(arguments[0], WIRING):
        return REFUSED
    # With a name they read or write files of the host.
    if verb in ("save", "load") and arguments:
        return REFUSED
    return effect
