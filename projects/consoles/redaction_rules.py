"""Where secrets stand in one line, by dialect. The group `s` is what is hidden.

Each rule is tried on lines that hold its word only: the search stays fast, and what a
rule may cost is bounded. No pattern may repeat a repetition of the same characters.
"""

import re
from collections.abc import Iterable

# A quoted or a bare value; a bare one may hold quotes, and loses no closing `;`.
_V = (
    r"(?P<s>\"(?:\\.|[^\"\\])*\"?[^\s;,)}\]]*|'[^']*'?[^\s;,)}\]]*"
    r"|\S+?(?=;?(?:\s|$)))"
)
# Bare, and followed by what closes a list or an object around it.
_ITEM = (
    r"(?P<s>\"(?:\\.|[^\"\\])*\"?|'(?:\\.|[^'\\])*'?"
    r"|\S+?(?=[\"'`,;)}\]]{0,4}(?:\s|$)))"
)
_REST = r"(?P<s>\S(?:.*\S)?)"
# How a value is encrypted stays visible.
_TYPE = r"(?:\d{1,2}\s+(?=\S))?"
_HASHED = r"(?:[1-9]\d?|sha\d*|md5)\s+"
# At the start of a command: of the line, behind a prompt, a quote or "command:".
_START = r"(?:^|[#>:!`\"'])\s*(?:no\s+)?"
_KEYS = {
    "pass": r"(?:passw(?:or)?d|passwd|(?<![a-z])pass|passphrase)",
    "pwd": r"(?<![a-z])pwd",
    "secret": "secret",
    "psk": "psk",
    "key": r"(?:pre-?shared|private|shared|auth|authentication|md5|encryption|privacy"
    r"|api|access|secret|wep)[-_ ]?key",
    # Routes have communities too, which are no secret.
    "community": r"(?:\bsnmp\w{0,8}[-_ ]community|community[-_ ]?(?:security)?"
    r"(?:name|string))",
}
_KEYED = f"(?:{'|'.join(_KEYS.values())})"
_ORDINARY = """
    yes no true false none null nil on off required optional enabled disabled unset
    unchanged unknown hidden (hidden) incorrect wrong invalid accepted expired changed
    mismatch missing policy protected reset strength-check secure-mode
"""
ORDINARY = frozenset(_ORDINARY.split())


_SHAPES = (
    # Hashes and reversible codes that name their method: $1$ $5$ $6$ $8$ $9$ $y$ …
    (
        "$",
        r"(?P<s>\$(?:\d{1,2}[a-z]?|2[abxy]|g?y|[hc]|apr1|sha\d{0,3}|argon2\w{0,2}"
        r"|pbkdf2-\w{1,10}|scrypt)\$[\w./$+=@{}-]{6,})",
    ),
    ("%", r"(?P<mark>%\^%#|%\$%\$|%@%@|%\+%#|%#%#)(?P<s>.{1,400}?)(?P=mark)"),
    ("@%@%", r"@%@%(?P<s>.{1,400}?)@%@%"),
    ("://", r"://[^/\s:@\"']{0,64}:(?P<s>[^@\s/\"']{1,200})@"),
    (
        "authorization",
        r"authorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token|digest)\s+"
        r"(?P<s>[^\s\"']+)",
    ),
    ("bearer", r"\bbearer\s+(?=\S{0,200}\d)(?P<s>[\w.~+/=-]{16,})"),
    ("sk-", r"(?P<s>\bsk-[\w-]{16,})"),
    ("akia", r"(?P<s>\bAKIA[A-Z0-9]{16}\b)"),
    ("asia", r"(?P<s>\bASIA(?=[A-Z]{0,15}\d)[A-Z0-9]{16}\b)"),
    ("gh", r"(?P<s>\bgh[pousr]_\w{30,})"),
    ("glpat-", r"(?P<s>\bglpat-[\w-]{16,})"),
    ("xox", r"(?P<s>\bxox[abprs]-[\w-]{10,})"),
    ("eyj", r"(?P<s>\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+)"),
    ("-----begin", r"-----BEGIN [^-]{1,60}-----(?P<s>[^-]+)-----END"),
)

_IOS = (
    (
        "enable",
        rf"{_START}enable\s+(?:algorithm-type\s+\S+\s+)?(?:password|secret)\s+"
        rf"(?:level\s+\d+\s+)?{_HASHED}{_V}",
    ),
    (
        "enable",
        rf"{_START}enable\s+(?:password|secret)\s+(?:level\s+\d+\s+)?"
        rf"(?!{_HASHED}\S)(?!level\s)(?:0\s+)?{_REST}",
    ),
    (
        "username",
        rf"{_START}username\s+\S+\s+(?:\S+\s+){{0,8}}?(?:password|secret)\s+"
        rf"{_HASHED}{_V}",
    ),
    (
        "username",
        rf"{_START}username\s+\S+\s+(?:\S+\s+){{0,8}}?(?:password|secret)\s+"
        rf"(?!{_HASHED}\S)(?:0\s+)?{_REST}",
    ),
    (
        "password",
        r"(?:^|\S[#>])\s*(?:no\s+)?password\s+"
        rf"(?!(?:{'|'.join(map(re.escape, sorted(ORDINARY)))})\s*$)"
        rf"{_TYPE}(?!\{{){_V}\s*$",
    ),
    ("password", rf"{_START}neighbor\s+\S+\s+password\s+{_TYPE}{_REST}"),
    (
        "password",
        rf"{_START}(?:ip\s+(?:ftp|scp|http\s+client)|vtp|l2tp\s+tunnel|isis|enable)\s+"
        rf"password\s+(?:clear\s+|md5\s+)?{_TYPE}{_V}",
    ),
    (
        "password",
        rf"{_START}(?:area|domain)-password\s+(?:clear\s+|md5\s+)?{_TYPE}{_V}",
    ),
    (
        "password",
        rf"{_START}mpls\s+ldp\s+(?:neighbor\s+(?:vrf\s+\S+\s+)?\S+\s+password"
        rf"|password\s+(?:fallback|option\s+\d+\s+for\s+\S+))\s+(?!key-chain){_TYPE}{_V}",
    ),
    (
        "ppp",
        rf"\bppp\s+(?:chap\s+password|pap\s+sent-username\s+\S+\s+password)\s+"
        rf"{_TYPE}{_REST}",
    ),
    ("snmp-server", rf"\bsnmp-server\s+community\s+{_V}"),
    (
        "snmp-server",
        r"\bsnmp-server\s+host\s+\S+\s+(?:vrf\s+\S+\s+)?(?:(?:traps?|informs?)\s+)?"
        r"(?:version\s+(?:1|2c|3\s+(?:auth|noauth|priv))\s+)?"
        rf"(?!(?:use-vrf|source-interface|filter-vrf|version|traps?|informs?|vrf)\b){_V}",
    ),
    (
        "snmp-server",
        rf"\bsnmp-server\s+user\s.{{0,200}}?\sauth\s+(?:md5|sha\S*)\s+{_V}",
    ),
    (
        "snmp-server",
        r"\bsnmp-server\s+user\s.{0,200}?\spriv\s+"
        rf"(?:(?:aes|des|3des)\S*\s+)?(?:(?:128|192|256)\s+)?{_V}",
    ),
    ("key-string", rf"\bkey-string\s+{_TYPE}{_REST}"),
    ("-- text", rf"\bkey\s+\d+\s+--\s+text\s+{_V}"),
    ("digest-key", rf"\bmessage-digest-key\s+\d+\s+\S+\s+{_TYPE}{_V}"),
    (
        "authentication-key",
        r"\bauthentication-key\s+\d+\s+(?:type\s+\S+\s+value\s+"
        rf"|(?:md5|sha\S*|cmac\S*|hmac\S*|aes\S*)\s+){_TYPE}{_V}",
    ),
    (
        "authentication-key",
        r"\bauthentication-key\s+(?!\d+\s+(?:type|md5|sha|cmac|hmac|aes))"
        rf"{_TYPE}{_V}",
    ),
    (
        "authentication",
        r"\b(?:standby|vrrp|glbp)\s+(?:\d+\s+)?authentication\s+"
        rf"(?!md5\s|text\s|mode\s){_TYPE}{_V}",
    ),
    ("authentication", rf"\bauthentication\s+text\s+{_TYPE}{_V}"),
    ("authentication", rf"\bnhrp\s+authentication\s+{_V}"),
    ("authentication", rf"\bmode\s+hmac-sha-\d+\s+{_TYPE}{_V}"),
    ("authentication", rf"\brip\s+authentication\s+string\s+{_V}"),
    ("isakmp", rf"\bisakmp\s+key\s+{_TYPE}{_V}"),
    (
        "pre-shared-key",
        r"\bpre-shared-key\s+(?:(?:address|hostname)\s+(?:\S+\s+){1,3}?key\s+)?"
        r"(?:(?:local|remote|ascii-text|hexadecimal|hex|cipher|simple|plain)\s+){0,2}"
        rf"{_TYPE}{_V}",
    ),
    (
        "key",
        r"\b(?:(?:tacacs|radius)-server|server-private)\s+(?:\S+\s+){0,12}?key\s+"
        rf"{_TYPE}{_V}",
    ),
    ("server-key", rf"\bserver-key\s+{_TYPE}{_V}"),
    ("key", rf"{_START}key\s+[067]\s+{_V}"),
    ("config-key", rf"\bconfig-key\s+(?:password-encrypt(?:ion)?\s+)?{_V}"),
    ("psk", rf"\bwpa-psk\s+(?:ascii|hex)\s+{_TYPE}{_V}"),
    ("set-key", rf"\bset-key\s+(?:ascii|hex)\s+{_TYPE}{_V}"),
)

_JUNOS = (
    ("secret-data", r"(?P<s>\"[^\"]*\"|[^\s;\"]+);\s*##\s*SECRET-DATA"),
    ("encrypted-password", rf"\bencrypted-password\s+{_V}"),
    ("password-value", rf"\bplain-text-password-value\s+{_V}"),
    ("simple-password", rf"\bsimple-password\s+{_V}"),
    ("privacy-", rf"\bprivacy-(?:key|password)\s+{_V}"),
    ("authentication-password", rf"\bauthentication-password\s+{_V}"),
    ("md5", rf"\bmd5\s+\d+\s+key\s+{_V}"),
    ("secret", r"\bsecret\s+(?P<s>\"[^\"]*\"|[^\s;\"]+);"),
    (
        "secret",
        rf"{_START}set\s+(?:access|groups|security|system)\s.{{0,200}}?\ssecret\s+{_V}",
    ),
    ("community", rf"^\s*community\s+{_V}\s*\{{"),
    ("community", rf"{_START}set\s+snmp\s+community\s+{_V}"),
)

_VRP = (
    (
        "cipher",
        r"\b(?:password|key|community|securityname|authentication\S*|privacy-mode"
        rf"|md5|simple|hmac\S*)\s(?:.{{0,80}}?\s)?(?:irreversible-)?cipher\s+{_V}",
    ),
    ("simple", rf"\bpassword\s+simple\s+{_V}"),
    ("hash", rf"\bpassword\s+hash\s+{_V}"),
    (
        "authentication-mode",
        r"\bauthentication-mode\s+(?:md5|simple|hmac\S*|sha\S*)\s+(?:\d+\s+)?"
        rf"(?:(?:plain|usual|nonstandard)\s+){{0,2}}(?!cipher\s){_V}",
    ),
    ("privacy-mode", rf"\bprivacy-mode\s+\S+\s+(?!cipher\s){_V}"),
    ("snmp-agent", rf"\bcommunity\s+(?:read|write)\s+(?!cipher\s){_V}"),
    ("securityname", rf"\bsecurityname\s+(?!cipher\s){_V}"),
)

_UNIX = (
    ("community", rf"^\s*r[ow]community6?\s+{_V}"),
    ("com2sec", rf"^\s*com2sec6?\s+\S+\s+\S+\s+{_V}"),
    ("login", rf"\blogin\s+\S+\s+password\s+{_V}"),
    ("psk", rf":\s*psk\s+{_V}"),
    ("xauth", rf":\s*xauth\s+{_V}"),
    ("-u", r"\s(?:-u|--user)[\s=]+[^\s:]{1,64}:(?P<s>[^\s\"']+)"),
    ("--password", rf"\s--password\s+{_V}"),
    ("sshpass", rf"\bsshpass\s+-p\s*{_V}"),
    # The hash of old password files, which names no method.
    (":::", r"^[a-z_][\w-]{0,31}:(?P<s>[./0-9A-Za-z]{13}):\d{0,6}:\d"),
)

# Values of a setting that say how, not what.
_NAMED = (
    *((stem, rf"{key}[\"']?\s*[:=]\s*{_ITEM}") for stem, key in _KEYS.items()),
    (
        "token",
        rf"(?<![a-z])token[\"']?\s*[:=]\s*(?=\S{{0,80}}\d)(?=\S{{8}}){_ITEM}",
    ),
)

Rules = dict[str, list[re.Pattern[str]]]


def _by_stem(rules: Iterable[tuple[str, str]]) -> Rules:
    result: Rules = {}
    for stem, pattern in rules:
        result.setdefault(stem, []).append(re.compile(pattern, re.IGNORECASE))
    return result


SHAPES = _by_stem(_SHAPES)
LINES = _by_stem((*_IOS, *_JUNOS, *_VRP, *_UNIX))
NAMED = _by_stem(_NAMED)
# A setting whose value RouterOS has put on the next line.
WRAPPED = re.compile(rf"{_KEYED}=\\\s*$", re.IGNORECASE)
FIRST_VALUE = re.compile(rf"^\s*{_V}")
# A field of a JSON object whose text is a secret as a whole.
FIELD = re.compile(rf"(?:^|.*[_.\- ]){_KEYED}|.*(?:_|^)token", re.IGNORECASE)
