"""What the offline model says about attached files, in the languages it answers in."""

from collections.abc import Mapping

_EN = {
    "none": "No file is attached to this conversation",
    "listing": "Attached to this conversation",
    "unknown": "No file “{name}” is attached",
    "unread": "“{name}” can't be read: {error}",
    "reading": "“{name}” is still being read. Ask again in a moment",
    "picture": "“{name}” is a picture, and I see none",
    "which": "Which of these files do you mean?",
    "summary": "{name}: {lines} lines, {characters} characters",
    "found": "{count} lines of {name} fit your question",
    "found.one": "One line of {name} fits your question",
    "not_found": "No line of {name} fits your question. It begins so",
    "notable": "Lines that tell of trouble ({count})",
    "headings": "Its parts",
    "begins": "It begins so",
    "more": "… and {count} more lines.",
    "cut": "Only its first {read} of {characters} characters were read.",
    "source": "Source:",
}
_DE = {
    "none": "An diesem Gespräch hängt keine Datei",
    "listing": "An diesem Gespräch hängt",
    "unknown": "Keine Datei „{name}“ ist angehängt",
    "unread": "„{name}“ lässt sich nicht lesen: {error}",
    "reading": "„{name}“ wird noch gelesen. Fragen Sie gleich noch einmal",
    "picture": "„{name}“ ist ein Bild, und ich sehe keine",
    "which": "Welche dieser Dateien meinen Sie?",
    "summary": "{name}: {lines} Zeilen, {characters} Zeichen",
    "found": "{count} Zeilen von {name} passen zu Ihrer Frage",
    "found.one": "Eine Zeile von {name} passt zu Ihrer Frage",
    "not_found": "Keine Zeile von {name} passt zu Ihrer Frage. So beginnt sie",
    "notable": "Zeilen, die von Störungen sprechen ({count})",
    "headings": "Ihre Teile",
    "begins": "So beginnt sie",
    "more": "… und {count} weitere Zeilen.",
    "cut": "Nur die ersten {read} von {characters} Zeichen wurden gelesen.",
    "source": "Quelle:",
}
_ZH = {
    "none": "此对话没有附件",
    "listing": "此对话的附件",
    "unknown": "没有名为“{name}”的附件",
    "unread": "无法读取“{name}”：{error}",
    "reading": "“{name}”仍在读取中，请稍后再问",
    "picture": "“{name}”是图片，我看不到图片",
    "which": "您指的是哪个文件？",
    "summary": "{name}：{lines} 行，{characters} 个字符",
    "found": "{name} 中有 {count} 行与您的问题相符",
    "found.one": "{name} 中有一行与您的问题相符",
    "not_found": "{name} 中没有与您的问题相符的行。开头如下",
    "notable": "提到故障的行（{count}）",
    "headings": "各部分",
    "begins": "开头如下",
    "more": "……还有 {count} 行。",
    "cut": "只读取了 {characters} 个字符中的前 {read} 个。",
    "source": "来源：",
}
PHRASES: Mapping[str, Mapping[str, str]] = {"en": _EN, "de": _DE, "zh": _ZH}


def tell(language: str, key: str, **facts: str) -> str:
    """The sentence with the facts filled in."""
    return PHRASES.get(language, _EN)[key].format_map(facts)
