"""Keywords → steps: what common questions ask for, in English, German and Chinese."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from chat.agent.grounded.steps import Step, Tools, bounded
from chat.agent.grounded.when import time_in, weekday_in, without_times
from copilot_site.lib.words import telling_words

SEARCH = "search_documents"
_END = 2_000
# As much as the tools take.
_QUERY, LOOKUP_TEXT, _MEMORY_QUERY, _WEB_QUERY = 1_000, 500, 500, 400


def _any(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


_REMEMBER = _any(
    r"^\W*(?:please\s+)?(?:remember|note|keep in mind)(?:\s+that)?\b[:,]?\s*(?P<en>.+)",
    r"^\W*(?:bitte\s+)?merke?\s+(?:dir|dir bitte)\b(?:,?\s*dass)?[:,]?\s*(?P<de>.+)",
    r"^\W*(?:请)?(?:记住|记下|记一下)[:：,，]?\s*(?P<zh>.+)",
)
_FORGET = _any(
    r"^\W*(?:please\s+)?forget(?:\s+(?:about|that|everything about))?\b\s*(?P<en>.+)",
    r"^\W*(?:bitte\s+)?vergiss(?:\s+bitte)?(?:,?\s*dass)?\b\s*(?P<de>.+)",
    r"^\W*(?:请)?(?:忘记|忘掉)[:：,，]?\s*(?P<zh>.+)",
)
_MINE = _any(
    r"\b(?:my|mine|about me|do i|did i|have i|am i|i (?:told|said|prefer|like))\b",
    r"\b(?:mein\w*|über mich|habe ich|bin ich|ich (?:gesagt|mag))\b",
    "我的|关于我|我说过|我喜欢",
)
_WEB = _any(
    r"\b(?:web|internet|online|google|news|latest)\b",
    r"\bim (?:netz|web)\b|\bneueste[nrs]?\b|\bnachrichten\b",
    "网上|互联网|上网|新闻|最新",
)
_ATTACHED = _any(
    r"\b(?:attach\w*|upload\w*|my (?:file|document|pdf)s?)\b",
    r"\bthis (?:file|document|pdf)\b",
    r"\b(?:anhang|angehängt\w*|hochgeladen\w*|diese[rs]? (?:datei|dokument))\b",
    "附件|上传|这个文件|这份文件",
)
_FILE = re.compile(
    # From where a name begins, and nowhere else: a long text is read once.
    r"(?<![\w.-])[\w.-]{1,200}\.(?:txt|md|html?|pdf|docx?|csv|cfg|conf|log)\b",
    re.IGNORECASE,
)
_SQL = re.compile(r"^\s*(?:select|with)\b.+", re.IGNORECASE | re.DOTALL)
# A question may ask for several kinds at once: who teaches what, where and when.
KINDS: dict[str, re.Pattern[str]] = {
    "lookup_faculty": _any(
        r"\bprof(?:essor\w*|\.)?(?=\W|$)|\bteach(?:es|er|ers|ing)?\b|\blectur(?:er|ers|es)\b",
        r"\binstructors?\b|\bstaff\b|\bdean\b|\boffice hours?\b|\bdr\.",
        r"\bdozent\w*|\blehrt\b|\blehrer\w*|\blehrkr\w+|\bsprechstunden?\b|\bdekan\w*",
        "教授|老师|教师|讲师|谁教|主讲|答疑|办公时间|院长",
    ),
    "lookup_courses": _any(
        r"\bcourses?\b|\bmodules?\b|\bcredits?\b|\bprerequisites?\b|\bsyllab\w+",
        r"\bclass(?:es)?\b|\bteach(?:es)?\b|\bsubjects?\b|\bects\b",
        r"\bkurse?n?\b|\bvorlesung\w*|\bmodule?n?\b|\blehrt\b|\bvoraussetzung\w*",
        r"\bleistungspunkte?n?\b|\bfächer?\b|\bsemester\b",
        "课程|学分|先修|选修|哪些课|什么课|教什么|这门课",
    ),
    "lookup_facilities": _any(
        r"\brooms?\b|\blab(?:s|orator\w+)?\b|\bbuildings?\b|\blibrar\w+|\bhalls?\b",
        r"\bauditori\w+|\bworkshops?\b|\bcafeteria\b|\bfacilit\w+|\bwhere\b|\bseats?\b",
        r"\braum\b|\bräume?n?\b|\blabore?s?\b|\bgebäude\w*|\bbibliothek\w*|\bhörsaal\w*",
        r"\bhörsäle\w*|\bmensa\b|\bwo\b|\bwerkstatt\b|\bplätze\b",
        "教室|房间|实验室|大楼|图书馆|报告厅|食堂|在哪|哪里|座位|设备",
    ),
    "lookup_timetables": _any(
        r"\btimetables?\b|\bschedules?\b|\bwhen\b|\bwhat time\b|\blectures?\b",
        r"\btutorials?\b|\bexercises?\b|\bclass(?:es)?\b",
        r"\bstundenpl\w+|\bwann\b|\buhrzeit\b|\btermine?\b|\bübung\w*",
        "课表|时间表|什么时候|几点|何时|上课",
    ),
    "lookup_departments": _any(
        r"\bdepartments?\b|\bfacult(?:y|ies) of\b|\bschool of\b|\binstitutes?\b",
        r"\bheads?\b|\bfachbereich\w*|\binstitute?s?\b|\babteilung\w*|\bleitet\b",
        r"\bfakultät\w*",
        "系主任|院系|学院|部门|学系|系(?=的|有|在|办)",
    ),
}
# Words that name a kind as a whole: "which courses are there" looks for all of them.
_KIND_TEXT = """
    course courses module modules class classes subject subjects room rooms building
    buildings facility facilities professor professors teacher teachers lecturer
    lecturers staff faculty department departments timetable timetables schedule
    person people teach teaches taught lecture lectures hours hour office offices
    open available offer offered list name names kurs kurse kursen modul module
    faecher raum raume raumen gebaude dozent dozenten dozentin lehrer professoren
    abteilung abteilungen fachbereich fachbereiche stundenplan lehrt leitet angeboten
    gibt
"""
KIND_WORDS = frozenset(_KIND_TEXT.split())
KIND_SIGNS = re.compile(
    "课程|教授|老师|教师|讲师|教室|房间|院系|部门|课表|时间表|上课|谁教"
)


def match(question: str, tools: Tools, now: datetime) -> tuple[Step, ...]:
    """The steps that keywords call for; none where they match nothing."""
    if deed := _deed(question, tools):
        return (deed,)
    steps = [step for step in _found(question, now) if step.tool in tools]
    return bounded(steps)


def search(question: str, tools: Tools) -> tuple[Step, ...]:
    """Hybrid search, one for each sentence with a topic of its own."""
    if SEARCH not in tools:
        return ()
    return bounded(Step(SEARCH, {"query": part}) for part in parts_of(question))


def parts_of(question: str) -> list[str]:
    """The sentences that have a topic; the whole question where only one has."""
    whole = " ".join(ends_of(question).split())[:_QUERY]
    parts = [
        part.strip()[:_QUERY] for part in re.split(r"(?<=[?!？！；;])\s*|\n+", question)
    ]
    telling = [part for part in parts if len(telling_words(part)) > 1]
    return telling[:4] if len(telling) > 1 else [whole]


def is_deed(step: Step) -> bool:
    """Whether it keeps or forgets something instead of looking something up."""
    return step.tool in ("remember", "forget")


def _deed(question: str, tools: Tools) -> Step | None:
    """What is to be kept or forgotten, in the person's words."""
    for pattern, tool, name in (
        (_REMEMBER, "remember", "text"),
        (_FORGET, "forget", "query"),
    ):
        found = pattern.match(question.strip())
        if found and tool in tools and "?" not in question:
            text = next(group for group in found.groups() if group)
            return Step(tool, {name: text.strip()})
    return None


def _found(whole: str, now: datetime) -> Iterator[Step]:
    if _SQL.match(whole):
        yield Step("query_data", {"source": "", "sql": whole.strip()})
    # What is asked stands before or after what was pasted, such as a log.
    question = ends_of(whole)
    if _MINE.search(question):
        yield Step("recall", {"query": question[:_MEMORY_QUERY]})
    yield from _attached(question)
    for tool, pattern in KINDS.items():
        if pattern.search(question):
            yield Step(tool, _lookup(question, tool, now))
    if _WEB.search(question):
        yield Step("search_web", {"query": question[:_WEB_QUERY]})


def ends_of(text: str) -> str:
    return text if len(text) <= 2 * _END else f"{text[:_END]}\n{text[-_END:]}"


def _attached(question: str) -> Iterator[Step]:
    if file := _FILE.search(question):
        yield Step("read_document", {"document": file[0]})
    elif _ATTACHED.search(question):
        yield Step("list_documents")


def _lookup(question: str, tool: str, now: datetime) -> dict[str, Any]:
    """The telling words, without those that name the kind; day and time apart."""
    plain = KIND_SIGNS.sub(" ", without_times(question))
    words = [word for word in spoken(plain) if word.casefold() not in KIND_WORDS]
    arguments: dict[str, Any] = {}
    if words:
        arguments["text"] = " ".join(words)[:LOOKUP_TEXT]
    if tool == "lookup_timetables":
        if day := weekday_in(question, now):
            arguments["weekday"] = day
        if time := time_in(question):
            arguments["time"] = time
    return arguments


def spoken(text: str) -> list[str]:
    """The telling words as they are written."""
    telling = set(telling_words(text))
    return [
        word
        for word in re.findall(r"[\w-]+", text)
        if telling.intersection(telling_words(word))
    ]
