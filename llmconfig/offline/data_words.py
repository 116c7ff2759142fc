"""The words by which a question about data is understood, in three languages."""

import re

# Read as if the word of the schema stood there; schemas are mostly in English.
SYNONYMS = {
    "cost": "price", "costs": "price", "expensive": "price", "cheap": "price",
    "cheapest": "price", "cheaper": "price", "dearest": "price", "pricey": "price",
    "pieces": "quantity", "units": "quantity", "amount": "quantity",
    "inventory": "stock", "warehouse": "location", "place": "location",
    "where": "location", "vendor": "supplier", "buyer": "customer",
    "preis": "price", "preise": "price", "kosten": "price", "kostet": "price",
    "teuer": "price", "teuerste": "price", "teuersten": "price", "günstig": "price",
    "günstigsten": "price", "billigsten": "price", "produkt": "product",
    "produkte": "product", "artikel": "product", "lager": "stock",
    "bestand": "stock", "lagerbestand": "stock", "menge": "quantity",
    "stück": "quantity", "standort": "location", "ort": "location",
    "lieferant": "supplier", "lieferanten": "supplier", "bestellung": "order",
    "bestellungen": "order", "kategorie": "category", "kategorien": "category",
    "kunde": "customer", "kunden": "customer", "anschlüsse": "port",
}  # fmt: skip
# Written without gaps, so each is cut out of its sentence.
CHINESE = {
    "库存": "stock", "价格": "price", "产品": "product", "商品": "product",
    "地点": "location", "位置": "location", "类别": "category", "供应商": "supplier",
    "订单": "order", "客户": "customer", "数量": "quantity", "交换机": "switch",
    "路由器": "router", "最贵": "most expensive", "最便宜": "cheapest",
    "总量": " total ", "总数": " total ", "总": " total ", "有多少": " how many ",
    "平均": " average ", "每个": " per ", "按": " per ",
    "多少": " how many ", "几个": " how many ", "超过": " more than ",
    "大于": " more than ", "高于": " more than ", "低于": " less than ",
    "小于": " less than ", "少于": " less than ", "哪些": " which ", "前": " top ",
}  # fmt: skip
COUNT = re.compile(
    r"\bhow (?:many|much)\b|\bnumber of\b|\bcount\b|\bwie ?viele?\b|\banzahl\b"
)
TOTAL = re.compile(
    r"\btotals?\b|\bsum\b|\boverall\b|\bgesamt\w*|\bsumme\b|\binsgesamt\b"
)
AVERAGE = re.compile(r"\baverage\b|\bmean\b|\bavg\b|\bdurchschnitt\w*|\bim schnitt\b")
PER = re.compile(
    r"\b(?:per|by|for each|for every|in each|at each|each|je|pro|nach|in jedem?r?)\s+"
    r"(?P<what>[\w-]+(?:\s+[\w-]+)?)"
)
TOP = re.compile(
    r"\b(?:top|first|best|largest|die)\s+(?P<count>\d{1,3})\b|\b(?P<bare>top)\b"
)
MOST = re.compile(
    r"\bmost\b|\bhighest\b|\blargest\b|\bbiggest\b|\bdearest\b|\bhöchste\w*"
    r"|\bmeisten?\b|\bgrößte\w*|\bteuerste\w*|\blongest\b"
)
LEAST = re.compile(
    r"\bcheapest\b|\blowest\b|\bfewest\b|\bleast\b(?! \d)|\bsmallest\b|\bshortest\b"
    r"|\bgünstigste\w*|\bbilligste\w*|\bkleinste\w*|\bwenigsten\b"
)
# `which products are discontinued`: a column that is true or false.
IS = re.compile(r"\b(?:are|is|sind|ist)\s+(?:not\s+|nicht\s+)?(?P<what>\w+)\W*$")
IS_NOT = re.compile(r"\b(?:not|nicht)\b")
_NUMBER = r"(?P<number>\d[\d,.]*)"
COMPARISONS = (
    (">=", re.compile(rf"\b(?:at least|mindestens)\s+{_NUMBER}")),
    ("<=", re.compile(rf"\b(?:at most|up to|höchstens|bis zu)\s+{_NUMBER}")),
    (
        ">",
        re.compile(
            r"\b(?:more|greater|higher|larger|dearer|over|above|exceed\w*|mehr|über"
            rf"|teurer|größer)(?:\s+expensive)?\s*(?:than|als)?\s+{_NUMBER}"
        ),
    ),
    (
        "<",
        re.compile(
            r"\b(?:less|fewer|lower|smaller|cheaper|under|below|weniger|unter|billiger"
            rf"|günstiger|kleiner)(?:\s+expensive)?\s*(?:than|als)?\s+{_NUMBER}"
        ),
    ),
)
OVERVIEW = re.compile(
    r"\b(?:which|what) (?:data|tables?|databases?|sources?)\b|\bschema\b"
    r"|\bwhat (?:is|do you have) in the (?:data|database)\b|\bdescribe the data\b"
    r"|\bwelche (?:daten|tabellen|datenbanken?)\b|哪些(?:数据|表)"
)
ROWS = re.compile(
    r"\bhow many rows\b|\bwie ?viele zeilen\b|\brows .*each table\b|多少行"
)
# Named by nobody: they say nothing about which rows are meant.
_STOP = """
a an the of in on at for to from with and or is are was were be been there their this
that these those do does did have has had we our i me my you it its all any some each
every which what who whom how many much number count list show give tell find get name
names total totals sum average mean per by than then more less least most top first
best highest lowest largest smallest biggest fewest longest shortest greater higher
fewer over under above below between up as only please can could would currently now
left available altogether overall together expensive cheap cheapest dearest exceed
exceeds costing euro euros eur € dollars data database table tables row rows out if
wie viele viel welche welcher welches was wer wo ist sind gibt es der die das den dem
des ein eine einen einer und oder auf im am an in von vom zum zur für mit je pro nach
mehr weniger als über unter mindestens höchstens zeige zeig liste nenne gesamt
gesamte summe durchschnitt durchschnittliche durchschnittlicher insgesamt haben hat
kosten kostet teuersten günstigsten meisten pieces units
"""
STOP = frozenset(_STOP.split())
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


def plain(text: str) -> str:
    """Lower case, Chinese terms replaced by English ones with gaps around them."""
    text = text.lower().replace("’", "'")
    for term, word in CHINESE.items():
        text = text.replace(term, f" {word} ")
    return " ".join(text.split())


def words(text: str) -> list[str]:
    return _WORD.findall(text)


def stem(word: str) -> str:
    """The singular, as far as a rule can tell."""
    word = word.lower()
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us")):
        return word[:-1]
    return word


def number(text: str) -> str:
    """`1,200` and `1200.50` as SQL writes them."""
    return re.sub(r",(?=\d{3}\b)", "", text).replace(",", ".").rstrip(".")
