"""Decides what a command line may do before any of it is typed.

An allow-list: only what is known to read is READ. A word stands for every verb that it
may abbreviate, and the worst of them counts.
"""

import re

from projects.consoles import policy_ios, policy_vpcs
from projects.consoles.effect import Effect, worst

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")

CLASSIFIERS = {"vpcs": policy_vpcs.classify, "ios": policy_ios.classify}


def split_lines(text: str) -> list[str]:
    """The lines that typing a text would run; no key but letters and Return remains."""
    lines = (line.replace("\t", " ") for line in text.splitlines())
    typed = (CONTROL.sub("", line).strip() for line in lines)
    return [line for line in typed if line]


def classify(dialect: str, line: str) -> Effect:
    """The worst that a command can do; a text of several lines counts as its worst."""
    classifier = CLASSIFIERS.get(dialect)
    if classifier is None:
        return Effect.REFUSED
    return worst(classifier(each.lower().split()) for each in split_lines(line))
