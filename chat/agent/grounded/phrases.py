"""The words around quotes and refusals, in the language of the question."""

from collections.abc import Mapping, Sequence
from typing import Any

from llmconfig.offline.words import language_of

_TEXTS: dict[str, dict[str, str]] = {
    "en": {
        "quoted": "The sources say (quoted; no language model is set up):",
        "listed": "On record (no language model is set up):",
        "remember": "Noted.",
        "forget": "Forgotten, as far as there was anything.",
        "declined": "I have found no evidence for an answer here.",
        "nothing_new": "I have found nothing beyond what I cited before.",
        "no_tools": "Nothing is set up here in which I could look.",
        "looked": "Looked for: {steps}.",
        "nearest": "Nearest to it: {titles}.",
        "everything": "all entries",
        "and": "; ",
    },
    "de": {
        "quoted": "Die Quellen sagen (zitiert; kein Sprachmodell ist eingerichtet):",
        "listed": "Verzeichnet ist (kein Sprachmodell ist eingerichtet):",
        "remember": "Gemerkt.",
        "forget": "Vergessen, soweit etwas da war.",
        "declined": "Ich habe hier keinen Beleg für eine Antwort gefunden.",
        "nothing_new": "Ich habe nichts gefunden, was nicht schon angeführt wurde.",
        "no_tools": "Hier ist nichts eingerichtet, worin ich nachsehen könnte.",
        "looked": "Gesucht: {steps}.",
        "nearest": "Am nächsten kommt: {titles}.",
        "everything": "alle Einträge",
        "and": "; ",
    },
    "zh": {
        "quoted": "资料中写道（原文引用；未配置语言模型）：",
        "listed": "记录如下（未配置语言模型）：",
        "remember": "已记住。",
        "forget": "如有相关内容，已忘记。",
        "declined": "这里没有找到可以支持回答的依据。",
        "nothing_new": "除了之前引用的内容，没有找到更多。",
        "no_tools": "这里没有可供查找的资料。",
        "looked": "查找内容：{steps}。",
        "nearest": "最接近的是：{titles}。",
        "everything": "全部条目",
        "and": "；",
    },
}
# What a step looks in, as people call it.
_PLACES: dict[str, tuple[str, str, str]] = {
    "search_documents": ("documents", "Dokumente", "文档"),
    "lookup_faculty": ("people", "Personen", "人员"),
    "lookup_courses": ("courses", "Kurse", "课程"),
    "lookup_facilities": ("rooms and facilities", "Räume", "场所"),
    "lookup_timetables": ("timetables", "Stundenpläne", "课表"),
    "lookup_departments": ("departments", "Abteilungen", "院系"),
    "lookup_records": ("records", "Einträge", "记录"),
    "recall": ("memory", "Gedächtnis", "记忆"),
    "search_web": ("the web", "Web", "网络"),
    "query_data": ("databases", "Datenbanken", "数据库"),
    "read_document": ("files", "Dateien", "文件"),
    "list_documents": ("files", "Dateien", "文件"),
}
_LANGUAGES = ("en", "de", "zh")
_SHOWN = 3


def say(name: str, question: str) -> str:
    return _TEXTS[language_of(question)][name]


def refusal(
    question: str,
    reason: str,
    steps: Sequence[Mapping[str, Any]],
    nearest: Sequence[Mapping[str, Any]],
) -> str:
    """What was looked for, and what comes nearest to it."""
    texts = _TEXTS[language_of(question)]
    first = "nothing_new" if reason == "nothing_new" else "declined"
    if not steps:
        return f"{texts[first]} {texts['no_tools']}"
    told = texts["and"].join(_told(step, question) for step in steps)
    parts = [texts[first], texts["looked"].format(steps=told)]
    if nearest:
        titles = texts["and"].join(_title(one) for one in nearest[:_SHOWN])
        parts.append(texts["nearest"].format(titles=titles))
    return " ".join(parts)


def _told(step: Mapping[str, Any], question: str) -> str:
    """“networking lab” in rooms and facilities."""
    language = language_of(question)
    names = _PLACES.get(step["tool"])
    place = names[_LANGUAGES.index(language)] if names else step["tool"]
    said = [
        str(value)
        for value in step["arguments"].values()
        if isinstance(value, str | int | float) and str(value).strip()
    ]
    what = f"“{' '.join(said)}”" if said else _TEXTS[language]["everything"]
    return f"{what} ({place})"


def _title(citation: Mapping[str, Any]) -> str:
    location = citation.get("location") or ""
    return f"{citation['title']} ({location})" if location else str(citation["title"])
