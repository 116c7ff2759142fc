import pytest

from llmconfig.offline.question import find_mentions
from llmconfig.offline.words import Intent, intent_of, language_of

QUESTIONS = {
    "list devices": Intent.TOPOLOGY,
    "what's wrong?": Intent.CHECK,
    "show me PC1's ip": Intent.SHOW,
    "shut down R2": Intent.STOP,
    "start everything": Intent.START,
    "create a small lab": Intent.CREATE,
    "connect PC1 and R1": Intent.LINK,
    "ping 10.0.0.1 from PC1": Intent.PING,
    "PC1 can't ping PC2": Intent.REACH,
    "trace PC1 to PC2": Intent.REACH,
    "what can you do with this lab?": Intent.HELP,
    "give PC1 the address 10.0.0.5/24": Intent.ADDRESS,
    "warum geht der Ping von PC1 zu PC2 nicht": Intent.REACH,
    "liste alle Geräte": Intent.TOPOLOGY,
    "schalte R1 ein": Intent.START,
    "显示拓扑": Intent.TOPOLOGY,
    "检查网络": Intent.CHECK,
    "explain OSPF": Intent.UNKNOWN,
}


@pytest.mark.parametrize(("text", "intent"), QUESTIONS.items())
def test_a_question_has_its_intent(text: str, intent: Intent) -> None:
    assert intent_of(text) is intent
    assert intent_of(f"  {text.upper()} ") is intent


def test_names_are_found_whatever_their_case_and_spacing() -> None:
    names = ["PC1", "PC10", "core5.1", "Lab1-PC1"]

    assert find_mentions("why can't pc 10 reach CORE5.1?", names) == ["PC10", "core5.1"]
    assert find_mentions("为什么PC1无法访问lab1-pc1", names) == ["PC1", "Lab1-PC1"]
    assert find_mentions("Is PC1 reachable from PC10?", names) == ["PC10", "PC1"]
    assert find_mentions("PC100 and APC1", names) == []


def test_the_language_is_that_of_the_question() -> None:
    assert language_of("Why can't PC1 reach PC2?") == "en"
    assert language_of("Warum erreicht PC1 den PC2 nicht?") == "de"
    assert language_of("PC1呢？") == "zh"
    assert language_of("PC1?") == "en"
