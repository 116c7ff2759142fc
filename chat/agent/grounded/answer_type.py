"""What kind of answer a question asks for, and whether a text has one of that kind."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AnswerType:
    name: str
    asked: re.Pattern[str]
    found: re.Pattern[str]


def _type(name: str, asked: str, found: str) -> AnswerType:
    return AnswerType(
        name, re.compile(asked, re.IGNORECASE), re.compile(found, re.IGNORECASE)
    )


_NUMBER = (
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty"
    r"|thirty|hundred|half|once|twice|no|none|every|each|daily|weekly"
    r"|eine?n?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf|zwanzig|halbe?r?"
    r"|einmal|zweimal|keine?|jede[nrs]?|täglich|wöchentlich)\b|[一二两三四五六七八九十百半每]"
)
_TIME = (
    r"\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:januar|februar|march|april"
    r"|june|july|august|septem|octo|novem|decem)\w*|\bmay\b|\bmidnight\b|\bnoon\b"
    r"|\b(?:before|after|until|every|daily|weekly|days?|weeks?|months?|years?|semester)\b"
    r"|\b(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)s?\b|\bmärz\b"
    r"|\b(?:vor|nach|bis|täglich|tage?n?|wochen?|monate?n?|uhr|mitternacht)\b"
    r"|[周月日点时年天]"
)
TYPES = (
    _type(
        "email",
        r"\be-?mail(?: address)?\b|\bmailadresse\b|邮箱|邮件地址",
        r"[\w.+-]+@[\w-]+\.\w",
    ),
    _type(
        "phone",
        r"\b(?:tele)?phone\b|\btelefon\w*|\bextension\b|\bdurchwahl\b|电话|分机",
        r"(?:\d[\s/()+-]?){4,}",
    ),
    _type(
        "money",
        r"\b(?:costs?|prices?|fees?|expensive|charge[ds]?|pay|fine|how much money)\b"
        r"|\b(?:kostet|kosten|preis\w*|gebühr\w*|teuer|zahl\w+)\b"
        r"|费用|多少钱|价格|收费|罚款",
        r"\d|\b(?:free|no charge|kostenlos|gebührenfrei|umsonst)\b|免费",
    ),
    _type(
        "time",
        r"\b(?:when|what (?:time|day|date|year)|how (?:long|often)|deadline)\b"
        r"|\bhours\b|\bwann\b|\bum wie ?viel uhr\b|\bwie (?:lange|oft)\b|\bfrist\b"
        r"|\böffnungszeit\w*|什么时候|几点|何时|多久|截止|哪天|哪一天|哪年|时间",
        _TIME,
    ),
    _type(
        "number",
        r"\bhow (?:many|much|far|large|big|fast|old|high)\b"
        r"|\bwhat (?:percentage|number)\b"
        r"|\bwie ?(?:viele?|gro(?:ß|ss)|weit|hoch|schnell|alt)\b|\bwelche anzahl\b"
        r"|多少|几个|几次|多大|多远|几",
        _NUMBER,
    ),
)


def asked_for(question: str) -> AnswerType | None:
    """The most telling one; None where any text may answer."""
    return next((kind for kind in TYPES if kind.asked.search(question)), None)
