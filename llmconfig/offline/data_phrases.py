"""What the offline model says about data, in the languages it answers in."""

from collections.abc import Mapping

_EN = {
    "value": "{title}: {value}",
    "value.of": "{title} for {terms}: {value}",
    "rows": "{count} rows for your question",
    "rows.one": "One row for your question",
    "rows.of": "{count} rows for {terms}",
    "rows.one.of": "One row for {terms}",
    "rows.cut": "the first {count} rows; there are more",
    "none": "No row fits",
    "none.detail": "The query ran and found nothing.",
    "first": "{name} leads with {value}",
    "first.least": "{name} has the least: {value}",
    "query": "Asked of “{source}”:",
    "more": "{count} more rows are in the table above.",
    "not_found": "I find no {terms} in “{source}”",
    "not_found.detail": "None of its text columns holds it.",
    "unclear": "I cannot turn that into a query",
    "unclear.detail": (
        "I match words of a question with tables and columns. I can count, add up, "
        "average, sort and compare, for example “how many … are in …”, “which … cost "
        "more than 500”, “total … per …”, “top 5 … by …”, “average … per …”. What "
        "needs more thought than that needs a language model."
    ),
    "no_way": "I see no way from {tables} to each other in “{source}”",
    "overview": "These databases can be asked",
    "no_source": "No database is set up for you",
    "refused": "The query was not answered",
    "each": "Rows of each table of “{source}”",
    "number": "number",
}
_DE = {
    "value": "{title}: {value}",
    "value.of": "{title} für {terms}: {value}",
    "rows": "{count} Zeilen zu Ihrer Frage",
    "rows.one": "Eine Zeile zu Ihrer Frage",
    "rows.of": "{count} Zeilen zu {terms}",
    "rows.one.of": "Eine Zeile zu {terms}",
    "rows.cut": "die ersten {count} Zeilen; es gibt mehr",
    "none": "Keine Zeile passt",
    "none.detail": "Die Abfrage lief und fand nichts.",
    "first": "{name} steht mit {value} vorn",
    "first.least": "{name} hat am wenigsten: {value}",
    "query": "Gefragt wurde „{source}“:",
    "more": "{count} weitere Zeilen stehen in der Tabelle oben.",
    "not_found": "Ich finde {terms} nicht in „{source}“",
    "not_found.detail": "Keine ihrer Textspalten enthält es.",
    "unclear": "Daraus kann ich keine Abfrage machen",
    "unclear.detail": (
        "Ich vergleiche die Wörter einer Frage mit Tabellen und Spalten. Ich kann "
        "zählen, summieren, mitteln, sortieren und vergleichen, etwa „wie viele …“, "
        "„welche … kosten mehr als 500“, „Summe … pro …“, „Top 5 …“. Was mehr "
        "Überlegung braucht, braucht ein Sprachmodell."
    ),
    "no_way": "Ich sehe in „{source}“ keinen Weg zwischen {tables}",
    "overview": "Diese Datenbanken lassen sich befragen",
    "no_source": "Für Sie ist keine Datenbank eingerichtet",
    "refused": "Die Abfrage wurde nicht beantwortet",
    "each": "Zeilen je Tabelle von „{source}“",
    "number": "Anzahl",
}
_ZH = {
    "value": "{title}：{value}",
    "value.of": "{terms} 的 {title}：{value}",
    "rows": "共 {count} 行",
    "rows.one": "共 1 行",
    "rows.of": "{terms}：共 {count} 行",
    "rows.one.of": "{terms}：共 1 行",
    "rows.cut": "仅前 {count} 行，还有更多",
    "none": "没有符合的行",
    "none.detail": "查询已执行，但没有找到数据。",
    "first": "{name} 最多：{value}",
    "first.least": "{name} 最少：{value}",
    "query": "查询的数据源是“{source}”：",
    "more": "其余 {count} 行见上面的表格。",
    "not_found": "在“{source}”中找不到 {terms}",
    "not_found.detail": "其文本列中都没有这个词。",
    "unclear": "我无法把这个问题变成查询",
    "unclear.detail": (
        "我只把问题中的词与表名、列名对应。我能计数、求和、求平均、排序和比较；"
        "更复杂的问题需要语言模型。"
    ),
    "no_way": "在“{source}”中找不到 {tables} 之间的联系",
    "overview": "可以查询以下数据库",
    "no_source": "没有为您设置数据库",
    "refused": "查询没有得到结果",
    "each": "“{source}”各表的行数",
    "number": "数量",
}
PHRASES: Mapping[str, Mapping[str, str]] = {"en": _EN, "de": _DE, "zh": _ZH}


def tell(language: str, key: str, **facts: str) -> str:
    """The sentence with the facts filled in."""
    return PHRASES.get(language, _EN)[key].format_map(facts)
