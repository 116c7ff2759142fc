"""Words that say nothing of what is looked for: English, German, Chinese."""

_ENGLISH = """
a about after again all also am an and any are as at be because been before being both
but by can could did do does doing don done each either etc ever every for from further
get got had has have having he her here hers him his how i if in into is it its itself
just let like may me might mine more most much must my no nor not now of off on once one
only or other our ours out over own please quite rather same shall she should show since
so some such tell than that the their theirs them then there these they this those
through to too under until up upon us very was we were what when where whether which
while who whom whose why will with within without would you your yours know give find
"""
_GERMAN = """
aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei
beim bin bis bist bitte da damit dann das dass dein deine dem den denn der deren des
dessen die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem
einen einer eines er es etwas euch euer für gegen gibt hab habe haben hat hatte hatten
hier ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden
jeder jedes kann kein keine können könnte man mein meine mich mir mit muss müssen nach
nicht
nichts noch nun nur ob oder ohne sehr sein seine seit sich sie sind so soll sollen
sondern sonst über um und uns unser unter vom von vor wann war waren warum was weil
welche welchem welchen welcher welches wenn wer werde werden wie wieder wieso will wir
wird wo woher wohin wurde wurden zu zum zur zwischen zeig zeige sag
"""
_CHINESE = """
请问 请 什么 哪里 哪儿 哪些 哪个 哪 怎么样 怎么 怎样 如何 为什么 为何 是否 能否
可以 可否 有没有 是不是 多少 几个 几 谁 吗 呢 吧 啊 呀 的 了 着 过 是 在 有 和 与
及 或 也 都 就
还 很 我们 你们 他们 我 你 他 她 它 这个 那个 这些 那些 这 那 一个 一下 告诉 知道
想 要 会 能 上 里 中 于 以 被 把 给 对
"""

WORDS = frozenset((_ENGLISH + _GERMAN).split())
# Longest first: the shorter are parts of the longer.
UNSPACED = tuple(sorted(_CHINESE.split(), key=len, reverse=True))
