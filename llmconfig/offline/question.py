"""What was asked last, with what it takes over from the question before."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address

from langchain_core.messages import BaseMessage, HumanMessage

from llmconfig.offline.attachments import without_notes
from llmconfig.offline.words import AND, FROM, WHY, Intent, intent_of, language_of

_ADDRESS = re.compile(r"(?<![\d.])(\d{1,3}(?:\.\d{1,3}){3})(?![\d.])")
_DEVICE_LIKE = re.compile(r"(?<![\w./`-])([A-Za-z]{1,10}[-_ ]?\d{1,3})(?![\w./])")
_NOT_DEVICES = {"ipv4", "ipv6", "gns3", "layer2", "layer3", "l2", "l3"}
Mention = str | IPv4Address


@dataclass(frozen=True)
class Question:
    """An intent and the texts that may name its devices, the newest first."""

    intent: Intent
    language: str
    text: str
    earlier: str = ""
    # Names of what is attached to this very message.
    files: tuple[str, ...] = ()

    def mentions(self, names: Iterable[str]) -> list[Mention]:
        """Devices and addresses in the order in which they take part."""
        known = list(names)
        own = find_mentions(self.text, known)
        if self.unknown_names(known):
            return own
        before = find_mentions(self.earlier, known)
        if not own or not before:
            return own or before
        if self.intent not in {Intent.REACH, Intent.PING} or len(own) > 1:
            return own
        if len(before) < 2 or _is_source(self.text):
            return [own[0], *before[1:]]
        return [before[0], own[0]] if own[0] != before[0] else [own[0], before[1]]

    def unknown_names(self, names: Iterable[str]) -> list[str]:
        """Words that look like a device that is not there."""
        rest = _DEVICE_LIKE.findall(_without(self.text, names))
        return [word for word in rest if _plain(word) not in _NOT_DEVICES]


def _without(text: str, names: Iterable[str]) -> str:
    """The text with known names blanked out, its length kept."""
    for name in sorted(names, key=len, reverse=True):
        text = _pattern(name).sub(lambda match: "\0" * len(match[0]), text)
    return text


def find_mentions(text: str, names: Iterable[str]) -> list[Mention]:
    """Device names, case and spacing aside, and addresses; a sender goes first."""
    found: dict[int, Mention] = {}
    rest = text
    for name in sorted(names, key=len, reverse=True):
        for match in _pattern(name).finditer(rest):
            found[match.start()] = name
        rest = _pattern(name).sub(lambda match: "\0" * len(match[0]), rest)
    for match in _ADDRESS.finditer(rest):
        try:
            found[match.start()] = IPv4Address(match[1])
        except ValueError:
            continue
    ordered = sorted(found)
    senders = [place for place in ordered if FROM.search(text[:place])]
    return list(
        dict.fromkeys(found[p] for p in sorted(ordered, key=lambda p: p not in senders))
    )


def _pattern(name: str) -> re.Pattern[str]:
    parts = re.findall(r"[^\W\d_]+|\d+|[^\w\s]|_", name)
    body = r"[\s_-]?".join(re.escape(part) for part in parts) or re.escape(name)
    return re.compile(rf"(?<![A-Za-z0-9_.]){body}(?![A-Za-z0-9_])", re.I)


def _is_source(text: str) -> bool:
    return re.search(r"\b(?:from|von|aus)\b|从", text, re.I) is not None


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).casefold()


def read_question(messages: Sequence[BaseMessage]) -> Question:
    """The last human message; `why?` and `and R2?` need those before."""
    asked = [
        without_notes(message.text.strip())
        for message in messages
        if isinstance(message, HumanMessage)
    ]
    if not asked:
        return Question(Intent.HELP, "en", "")
    question = _resolve([one.text for one in asked])
    return replace(question, files=asked[-1].files)


def _resolve(texts: list[str]) -> Question:
    text = texts[-1]
    intent, language = intent_of(text), language_of(text)
    if len(texts) == 1:
        return Question(Intent.CHECK if WHY.match(text) else intent, language, text)
    if WHY.match(text):
        before = _resolve(texts[:-1])
        why = Intent.REACH if before.intent in {Intent.PING, Intent.REACH} else None
        return Question(
            why or Intent.CHECK, language, before.text, earlier=before.earlier
        )
    if AND.match(text) and intent in {Intent.UNKNOWN, Intent.PING}:
        before = _resolve(texts[:-1])
        tongue = language if language != "en" else before.language
        context = f"{before.text} {before.earlier}".strip()
        return Question(before.intent, tongue, text, earlier=context)
    if intent in {Intent.FIX, Intent.REACH, Intent.PING}:
        return Question(intent, language, text, earlier=_path_before(texts))
    return Question(intent, language, text)


def _path_before(texts: list[str]) -> str:
    """The texts of the last question about a path between devices."""
    for count in range(len(texts) - 1, 0, -1):
        before = _resolve(texts[:count])
        if before.intent in {Intent.REACH, Intent.PING, Intent.CHECK}:
            return f"{before.text} {before.earlier}".strip()
    return ""
