"""Answers questions about attached files: list, read, quote with marks."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from copilot_site.lib.words import fold, telling_words
from llmconfig.offline.attachments import names_in, unknown_name
from llmconfig.offline.data_answer import cell
from llmconfig.offline.documents_phrases import tell
from llmconfig.offline.markdown import fence
from llmconfig.offline.steps import Answer, Call, Step, Turn

# So many files are read for one question, and so many parts of each.
_FILES, _PARTS = 3, 3
_QUOTED = 12
_LISTS = re.compile(
    r"\b(?:list|which|what)\b.*\b(?:files|documents|attachments|uploads)\b"
    r"|\b(?:welche|liste)\b.*\b(?:dateien|dokumente|anhänge)\b|哪些(?:文件|文档|附件)",
    re.I,
)
_OF_KIND = {
    "log": re.compile(r"\blogs?\b|日志", re.I),
    "config": re.compile(r"\bconfig\w*|\bkonfig\w*|配置", re.I),
    "csv": re.compile(r"\b(?:csv|spreadsheet|table|tabelle)\b|表格", re.I),
    "pdf": re.compile(r"\bpdf\b", re.I),
}
_TROUBLE = re.compile(
    r"\b(?:err(?:or)?s?|fail\w*|crit\w*|alert|emerg\w*|fatal|panic|warn\w*|denied|refused"
    r"|timed? ?out|timeout|unreachable|down|lost|invalid|duplicate|mismatch)\b"
    r"|%\w+-[0-4]-",
    re.I,
)
_HEADING = re.compile(
    r"^(?:#{1,4} .+|hostname .+|interface .+|router .+|vlan \d.*|line \w+ .+"
    r"|ip access-list .+)$"
)
_PICTURES = {"png", "jpeg", "webp"}
# Words that ask for the file, not for something in it.
_ASKING = frozenset(
    telling_words(
        "summarise summarize summary attached attachment file document upload uploaded "
        "content contents contain contains inside say says read open explain describe "
        "log logs config configuration csv pdf text lines "
        "zusammen zusammenfassen fasse anhang angehängt angehängte angehängten datei "
        "dokument inhalt steht enthält lies öffne erkläre beschreibe konfiguration "
        "总结 概括 附件 文件 文档 日志 配置 内容 上传 这个 这份 里面"
    )
)


@dataclass(frozen=True)
class Part:
    """A part of a file's text, and how it is cited."""

    mark: str
    lines: list[str]
    end: int
    total: int


def answer_documents(turn: Turn) -> Step:
    """The next step for a question about attached files."""
    listed = turn.evidence.of("list_documents")
    if not listed:
        return turn.call(Call("list_documents"))
    if listed[-1].is_error:
        return turn.failed("list_documents", listed[-1].error)
    language, text = turn.question.language, turn.question.text
    files = [one for one in listed[-1].data.get("documents") or [] if _is_file(one)]
    if not files:
        return turn.plain(tell(language, "none"))
    names = [str(one["name"]) for one in files]
    if missing := unknown_name(text, names):
        return turn.plain(tell(language, "unknown", name=missing), _listing(files))
    chosen = _chosen(turn, files)
    if _LISTS.search(text) and not names_in(text, names):
        return turn.plain(tell(language, "listing"), _listing(files))
    if len(chosen) > _FILES:
        return turn.plain(tell(language, "which"), _listing(files))
    wanted = [call for one in chosen if (call := _next_part(turn, one))]
    if wanted:
        return turn.call(*wanted)
    parts = [part for one in chosen for part in _about(turn, one)]
    return Answer(turn.plain("", *parts).text)


def _is_file(one: object) -> bool:
    return isinstance(one, Mapping) and bool(one.get("id")) and bool(one.get("name"))


def _listing(files: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(f"- {cell(one['name'])} ({one.get('kind', '')})" for one in files)


def _chosen(
    turn: Turn, files: Sequence[Mapping[str, Any]]
) -> Sequence[Mapping[str, Any]]:
    """Those that are named; else those that came along; else those of the kind."""
    text = turn.question.text
    names = names_in(text, [str(one["name"]) for one in files])
    for wanted in (names, turn.question.files):
        found = [one for one in files if one["name"] in wanted]
        if found:
            return found
    for kind, pattern in _OF_KIND.items():
        found = [one for one in files if one.get("kind") == kind]
        if found and pattern.search(text):
            return found
    return files


def _next_part(turn: Turn, one: Mapping[str, Any]) -> Call | None:
    """None: it is read, as far as it will be, or cannot be."""
    if one.get("kind") in _PICTURES or one.get("state") != "ready":
        return None
    done = _results(turn, one)
    if not done:
        return Call("read_document", {"document": one["id"]})
    following = done[-1].get("next")
    if not isinstance(following, int) or len(done) >= _PARTS:
        return None
    return Call("read_document", {"document": one["id"], "start": following})


def _results(turn: Turn, one: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [
        result.data
        for result in turn.evidence.of("read_document")
        if result.arguments.get("document") == one["id"]
    ]


def _about(turn: Turn, one: Mapping[str, Any]) -> list[str]:
    """What the answer says of one file."""
    language, name = turn.question.language, cell(one["name"])
    if one.get("kind") in _PICTURES:
        return [_bold(tell(language, "picture", name=name))]
    if one.get("state") != "ready":
        error = str(one.get("error") or "")
        key = "unread" if error else "reading"
        return [_bold(tell(language, key, name=name, error=error))]
    results = _results(turn, one)
    parts = [_part(data) for data in results if isinstance(data.get("text"), str)]
    if not parts:
        error = str(results[-1].get("error") or "?") if results else "?"
        return [_bold(tell(language, "unread", name=name, error=error))]
    wanted = _looked_for(turn, one)
    said = (
        _fitting(turn, name, parts, wanted) if wanted else _summary(turn, name, parts)
    )
    last = parts[-1]
    if last.end < last.total:
        read, total = f"{last.end:,}", f"{last.total:,}"
        said.append(tell(language, "cut", read=read, characters=total))
    return said


def _part(data: Mapping[str, Any]) -> Part:
    text = str(data["text"])
    start, total = int(data.get("start") or 0), int(data.get("characters") or 0)
    lines = [line.rstrip() for line in text.splitlines()]
    return Part(str(data.get("cite") or ""), lines, start + len(text), total)


def _looked_for(turn: Turn, one: Mapping[str, Any]) -> list[str]:
    """The words that ask for something in the file."""
    named = set(telling_words(str(one["name"])))
    words = telling_words(turn.question.text)
    return [word for word in words if word not in named and word not in _ASKING]


def _fitting(
    turn: Turn, name: str, parts: Sequence[Part], wanted: Sequence[str]
) -> list[str]:
    """The lines that hold most of what is looked for."""
    language = turn.question.language
    scores = [[_score(line, wanted) for line in part.lines] for part in parts]
    best = max((score for each in scores for score in each), default=0)
    if not best:
        head = _bold(tell(language, "not_found", name=name))
        return [head, *_quote(turn, parts[0], parts[0].lines[:_QUOTED])]
    found = [[at for at, score in enumerate(each) if score == best] for each in scores]
    count = sum(map(len, found))
    key = "found.one" if count == 1 else "found"
    said = [_bold(tell(language, key, name=name, count=str(count)))]
    room = _QUOTED
    for part, places in zip(parts, found, strict=True):
        lines = _with_blocks(part.lines, places[:room])
        room -= min(len(places), room)
        said += _quote(turn, part, lines)
    if count > _QUOTED:
        said.append(tell(language, "more", count=str(count - _QUOTED)))
    return said


def _score(line: str, wanted: Sequence[str]) -> int:
    plain = fold(line)
    return sum(word in plain for word in wanted)


def _with_blocks(lines: Sequence[str], places: Sequence[int]) -> list[str]:
    """A line that opens a block of indented lines stands with them."""
    shown: dict[int, str] = {}
    for place in places:
        shown[place] = lines[place]
        if lines[place][:1].isspace():
            continue
        for at in range(place + 1, min(place + 7, len(lines))):
            if not lines[at][:1].isspace():
                break
            shown[at] = lines[at]
    return [shown[at] for at in sorted(shown)]


def _summary(turn: Turn, name: str, parts: Sequence[Part]) -> list[str]:
    """How long it is, what tells of trouble, its headings, its beginning."""
    language = turn.question.language
    lines = sum(len(part.lines) for part in parts)
    total = f"{parts[-1].total:,}"
    facts = {"name": name, "lines": f"{lines:,}", "characters": total}
    said = [_bold(tell(language, "summary", **facts))]
    for key, pattern in (("notable", _TROUBLE), ("headings", _HEADING)):
        found = [
            (part, line)
            for part in parts
            for line in part.lines
            if pattern.search(line)
        ]
        if found:
            said.append(f"{tell(language, key, count=str(len(found)))}:")
            for part in parts:
                chosen = [line for of, line in found[:_QUOTED] if of is part]
                said += _quote(turn, part, chosen)
            if len(found) > _QUOTED:
                said.append(tell(language, "more", count=str(len(found) - _QUOTED)))
    if lines <= 2 * _QUOTED or len(said) == 1:
        beginning = parts[0].lines[: 2 * _QUOTED]
        said += [f"{tell(language, 'begins')}:", *_quote(turn, parts[0], beginning)]
    return said


def _quote(turn: Turn, part: Part, lines: Sequence[str]) -> list[str]:
    """Lines as they stand in the file, and below them where that is cited."""
    if not any(line.strip() for line in lines):
        return []
    text = "\n".join(lines).strip("\n")
    source = (
        f"{tell(turn.question.language, 'source')} {part.mark}" if part.mark else ""
    )
    return [f"{fence(text)}\n\n{source}".rstrip()]


def _bold(text: str) -> str:
    return f"**{text}**"
