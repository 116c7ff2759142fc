"""What the commands of IOS do, whatever mode the command line is in."""

from collections.abc import Sequence

from projects.consoles.effect import Effect, expand, worst

READ, CHANGE, REFUSED = Effect.READ, Effect.CHANGE, Effect.REFUSED

READING = (
    "dir disable enable end exit more ping pwd show terminal traceroute verify where"
)
# Ordinary words of configuration, which make an abbreviation ambiguous.
CHANGING = """
    aaa access-list address-family alias archive area arp auto-summary autonomous-system
    bandwidth banner bgp bridge cdp channel-group class class-map clear clock
    configure controller copy crypto cts
    default default-gateway default-information default-metric default-router delay
    deny dialer distance distribute-list dot1q duplex
    eigrp encapsulation event exec-timeout
    frame-relay hold-queue hostname
    import interface ip ipv6 isis keepalive key
    lease line lldp load-interval logging login
    mac mac-address match maximum-paths metric monitor mpls mtu
    name neighbor network no ntp object-group
    ospf passive-interface permit policy-map port-channel preempt priority privilege
    radius-server redistribute remark rip rmon route-map router router-id
    send service service-policy set shutdown snmp-server spanning-tree speed standby
    summary-address switchport synchronization
    tacacs-server timers track transport tunnel
    undebug username variance version vlan vrf vtp write
"""
# They destroy, leave the lab, or end the session.
REFUSING = """
    connect config-register debug delete disconnect do-exec erase factory-reset
    format fsck install license lock logout mkdir mrinfo partition quit reload rename
    request resume rlogin rmdir rsh setup squeeze ssh start-chat tclquit tclsh telnet
    test undelete upgrade
"""
VERBS = {
    **dict.fromkeys(READING.split(), READ),
    **dict.fromkeys(CHANGING.split(), CHANGE),
    **dict.fromkeys(REFUSING.split(), REFUSED),
}
# Filters that only choose lines; the others write files, also to other machines.
FILTERS = ("begin", "count", "exclude", "include", "section")
CONFIGURATIONS = ("running-config", "startup-config")


def classify(words: Sequence[str]) -> Effect:
    verb, arguments = words[0], list(words[1:])
    if verb.startswith("!"):
        return READ
    if verb in ("do", "no") and arguments:
        inner = classify(arguments)
        return inner if verb == "do" else worst([CHANGE, inner])
    if verb in ("?", "help"):
        return READ
    if verb.endswith("?"):
        return classify([verb.rstrip("?") or "?", *arguments])
    verbs = [name for name in expand(verb, VERBS) if _fits(name, verb, arguments)]
    if not verbs:
        return CHANGE
    return worst(_classify_verb(name, arguments) for name in verbs)


def _fits(verb: str, word: str, arguments: Sequence[str]) -> bool:
    # What has no argument, or must have one, is not meant by its abbreviation.
    if verb == "shutdown":
        return not arguments or arguments == ["?"]
    if verb == "encapsulation":
        return bool(arguments)
    if verb == "config-register":
        return word.startswith("config-")
    return True


def _classify_verb(verb: str, arguments: Sequence[str]) -> Effect:
    match verb:
        case "show" | "more":
            return _reading(arguments)
        case "enable":
            is_plain = not arguments or arguments[0].isdigit()
            return READ if is_plain else CHANGE
        case "configure":
            # `conf 0x2142` is the register that makes a router forget its set-up.
            is_plain = not arguments or _is_any(arguments[0], ("terminal", "?"))
            return CHANGE if is_plain else REFUSED
        case "write":
            return _writing(arguments)
        case "copy":
            are_plain = all(_is_any(word, CONFIGURATIONS) for word in arguments)
            return CHANGE if len(arguments) == 2 and are_plain else REFUSED
        case "crypto" if any(word.startswith("z") for word in arguments):
            return REFUSED
    return VERBS[verb]


def _reading(arguments: Sequence[str]) -> Effect:
    if any("://" in word for word in arguments):
        return REFUSED
    piped = " ".join(arguments).split("|")[1:]
    chosen = [part.split()[0] for part in piped if part.split()]
    return READ if all(_is_any(word, (*FILTERS, "?")) for word in chosen) else REFUSED


def _writing(arguments: Sequence[str]) -> Effect:
    if not arguments:
        return CHANGE
    kinds = expand(arguments[0], ("core", "erase", "memory", "network", "terminal"))
    effects = {"memory": CHANGE, "terminal": READ}
    return worst(effects.get(kind, REFUSED) for kind in kinds or ["?"])


def _is_any(word: str, words: Sequence[str]) -> bool:
    return any(known.startswith(word) for known in words)
