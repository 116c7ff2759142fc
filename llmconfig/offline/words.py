"""The words by which an intent and a language are told, in three languages."""

import re
from enum import StrEnum


class Intent(StrEnum):
    REACH = "reach"
    CHECK = "check"
    FIX = "fix"
    TOPOLOGY = "topology"
    SHOW = "show"
    PING = "ping"
    START = "start"
    STOP = "stop"
    CREATE = "create"
    LINK = "link"
    ADDRESS = "address"
    RUN = "run"
    HELP = "help"
    GREETING = "greeting"
    UNKNOWN = "unknown"


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.I)


# The first that matches decides, so what is more particular stands first.
INTENTS: tuple[tuple[Intent, re.Pattern[str]], ...] = (
    (Intent.RUN, re.compile(r"`[^`\n]+`")),
    (
        Intent.FIX,
        _words(
            r"\b(?:fix|repair|mend)\b",
            r"\b(?:behebe|beheben|repariere\w*|korrigiere\w*)\b",
            "修复|修好|修理",
        ),
    ),
    (
        Intent.ADDRESS,
        _words(
            r"\b(?:set|configure|assign|give|change)\b.*\d+\.\d+\.\d+\.\d+",
            r"\b(?:setze?|konfiguriere|gib|stelle|ändere)\b.*\d+\.\d+\.\d+\.\d+",
            r"(?:设置|配置|设为|改为|分配).*\d+\.\d+\.\d+\.\d+",
        ),
    ),
    (
        Intent.REACH,
        _words(
            r"\bcan(?:no|')?t\b",
            r"\bcan’t\b",
            r"\b(?:can|could|does|do|is|are|did)\s*n[o']t\b",
            r"\b(?:can|cannot|could) not\b",
            r"\breach\w*|\bunreach\w*|\bconnectivity\b|\bable to\b|\bunable\b",
            r"\bcan\b.*\b(?:ping|talk|see|access|connect)",
            r"\bfail\w*\b.*\bping|\bping\w*\b.*\bfail|\bno (?:connection|answer)\b",
            r"\btrace(?:route)?\b|\bpath (?:from|between)\b",
            r"\berreich\w*|\bwarum\b.+|\bwieso\b.+|\bkeine? (?:verbindung|antwort)",
            r"\bkann\b.*\bnicht\b|\bnicht\b.*\bpingen",
            "为什么.+|无法|不能|到不了|不通|可达|连通|能否|能不能|访问|到达",
            r"\bwhy\b.+",
        ),
    ),
    (
        Intent.CHECK,
        _words(
            r"\bwrong\b|\bbroken\b|\bproblem\w*|\btroubleshoot\w*|\bdiagnos\w*",
            r"\bcheck\b|\bfault\w*|\bworking\b",
            r"\bfalsch\b|\bkaputt\b|\bfehler\w*|\bprüfe\w*|\bstimmt\b|\bdefekt\b",
            "问题|检查|排查|故障|出错|错误|诊断",
        ),
    ),
    (Intent.PING, _words(r"\bping\w*", r"\w*pingen\b|\bpinge\b", "ping")),
    (
        Intent.CREATE,
        _words(
            r"\b(?:add|create|build|make|new)\b",
            r"\b(?:erstelle?n?|füge|baue?n?|lege|neue[rsn]?)\b",
            "创建|添加|新建|搭建|增加|加一|加两",
        ),
    ),
    (
        Intent.SHOW,
        _words(
            r"\bconfig\w*|\baddress\w*|\bips?\b|\brout(?:es?|ing)\b|\barp\b",
            r"\binterfaces?\b|\baccess[- ]?lists?\b|\bacls?\b|\bversion\b|\bgateway\b",
            r"\bkonfig\w*|\badress\w*|\brouten?\b|\bschnittstellen?\b",
            "配置|地址|路由表|路由(?!器)|接口|版本|网关|访问列表",
        ),
    ),
    (
        Intent.STOP,
        _words(
            r"\bstop\w*|\b(?:shut|turn|power|switch)\s*(?:down|off)\b|\bhalt\b",
            r"\bstoppe?n?\b|\banhalten\b|\bausschalten\b|\bschalte\b.*\baus\b",
            "停止|关闭|关机",
        ),
    ),
    (
        Intent.START,
        _words(
            r"\bstart\b|\bboot\b|\b(?:turn|power|switch)\s*on\b|\bstart up\b",
            r"\bstarte?n?\b|\beinschalten\b|\bschalte\b.*\b(?:ein|an)\b",
            "启动|开机|打开",
        ),
    ),
    (
        Intent.LINK,
        _words(r"^\W*(?:please\s+)?(?:connect|link|verbinde|verkabel\w*)\b", "连接"),
    ),
    (
        Intent.HELP,
        _words(
            r"\bhelp\b|\bwhat can you\b|\bwho are you\b|\bhow do i\b",
            r"\bhilfe\b|\bwas kannst du\b|\bwer bist du\b",
            "帮助|你能做什么|你会什么|你是谁",
        ),
    ),
    (
        Intent.TOPOLOGY,
        _words(
            r"\btopology\b|\bdevices?\b|\bnodes?\b|\blinks?\b|\blab\b|\bnetwork\b",
            r"\btopologie\b|\bgeräte?\b|\bknoten\b|\bverbindungen\b|\blabor\b|\bnetz",
            "拓扑|设备|节点|链路|实验",
        ),
    ),
    (
        Intent.GREETING,
        _words(
            r"^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening)|thanks?)\b",
            r"^\W*(?:hallo|guten (?:tag|morgen|abend)|moin|danke)\b",
            "^(?:你好|您好|谢谢)",
        ),
    ),
)

# "why?" alone, and "and R2?": they lean on the question before.
WHY = _words(
    r"^\W*(?:but\s+)?(?:why(?:\s+not)?|how come|warum(?:\s+nicht)?|wieso|weshalb"
    r"|为什么|为何|怎么回事)\W*$"
)
AND = _words(
    r"^\W*(?:and|what about|how about|und|was ist mit|那么|那|还有)[\s,]*\S+",
    r"^\W*\S+\s*呢\W*$",
)
# What follows is where the traffic starts.
FROM = _words(r"\b(?:from|von|aus)\s+$", r"从\s*$")

_GERMAN = _words(
    r"\b(?:warum|wieso|weshalb|nicht|kann|zeige?|und|erreich\w*|starte|stoppe|wie"
    r"|ist|der|die|das|von|nach|setze|erstelle|füge|verbinde|alle|geräte|was|hallo"
    r"|welche|führe|prüfe|pinge|hilfe|bitte|falsch|labor|fehler|guten|danke|zwischen"
    r"|behebe|repariere|konfiguriere|einen?|zwei|keine?)\b"
)
_ENGLISH = _words(
    r"\b(?:the|is|are|why|can|can't|cannot|what|show|and|to|from|not|reach|list|in|of"
    r"|add|set|on|start|stop|run|how|does|please|with|all|hello|help|fix)\b"
)
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


def language_of(text: str) -> str:
    """The language of a question: zh, de, or en when it is neither."""
    if _CHINESE.search(text):
        return "zh"
    german = len(_GERMAN.findall(text))
    return "de" if german > len(_ENGLISH.findall(text)) else "en"


def intent_of(text: str) -> Intent:
    return next(
        (intent for intent, pattern in INTENTS if pattern.search(text)), Intent.UNKNOWN
    )
