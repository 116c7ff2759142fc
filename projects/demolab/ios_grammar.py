"""Finds the command behind a line, or the place where the line is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import Any

INTERFACE_KINDS = ("FastEthernet", "GigabitEthernet", "Ethernet", "Serial", "Loopback")


class BadCommand(Exception):
    """The text a router prints for a line it does not take."""


@dataclass(frozen=True)
class Match:
    handler: Callable[..., Any]
    arguments: list[str]


@dataclass
class _Branch:
    words: dict[str, _Branch] = field(default_factory=dict)
    slots: dict[str, _Branch] = field(default_factory=dict)
    handler: Callable[..., Any] | None = None


def interface_name(text: str) -> str | None:
    """`f0/0` → `FastEthernet0/0`; None when it is no interface name."""
    found = re.fullmatch(r"([A-Za-z]+)\s*(\d+(?:/\d+)*)", text)
    if found is None:
        return None
    kinds = [
        kind
        for kind in INTERFACE_KINDS
        if kind.lower().startswith(found.group(1).lower())
    ]
    return f"{kinds[0]}{found.group(2)}" if kinds else None


def _is_ip(word: str) -> bool:
    try:
        IPv4Address(word)
    except ValueError:
        return False
    return True


CHECKS: dict[str, Callable[[str], bool]] = {
    "<ip>": _is_ip,
    "<number>": str.isdigit,
    "<interface>": lambda word: interface_name(word) is not None,
    "<word>": lambda word: True,
}
HELP = {
    "<ip>": "A.B.C.D",
    "<number>": "<0-4294967295>",
    "<interface>": "Interface",
    "<word>": "WORD",
    "<line>": "LINE",
}


@dataclass(frozen=True)
class _Word:
    text: str
    column: int


class Grammar:
    """The commands of one mode, each a pattern such as `show ip route <ip>`."""

    def __init__(self) -> None:
        self._root = _Branch()

    def add(self, pattern: str, handler: Callable[..., Any]) -> None:
        branch = self._root
        for part in pattern.split():
            kind = branch.slots if part.startswith("<") else branch.words
            branch = kind.setdefault(part, _Branch())
        branch.handler = handler

    def find(self, line: str, prompt_width: int) -> Match:
        """The handler and arguments of a line; raises BadCommand."""
        words = self._split(line)
        branch = self._root
        arguments: list[str] = []
        index = 0
        while index < len(words):
            word = words[index]
            if "<line>" in branch.slots:
                line_branch = branch.slots["<line>"]
                is_keyword = self._keywords(branch, word.text) and not arguments
                if not is_keyword:
                    arguments.append(line[word.column :].strip())
                    branch, index = line_branch, len(words)
                    continue
            found = self._keywords(branch, word.text)
            if len(found) > 1:
                raise BadCommand(f'% Ambiguous command:  "{line.strip()}"\n')
            if found:
                branch = branch.words[found[0]]
                index += 1
                continue
            slot, text, used = self._slot(branch, words, index)
            if slot is None:
                raise BadCommand(marker(prompt_width + word.column))
            arguments.append(text)
            branch = slot
            index += used
        if branch.handler is None:
            raise BadCommand("% Incomplete command.\n\n")
        return Match(branch.handler, arguments)

    def choices(self, line: str) -> list[str]:
        """What may come next, for the question mark."""
        words = self._split(line)
        is_partial = bool(words) and not line.endswith(" ")
        branch = self._root
        for index, word in enumerate(words[:-1] if is_partial else words):
            found = self._keywords(branch, word.text)
            if len(found) == 1:
                branch = branch.words[found[0]]
                continue
            slot, _, _ = self._slot(branch, words, index)
            if slot is None:
                return []
            branch = slot
        if is_partial:
            return [w for w in sorted(branch.words) if w.startswith(words[-1].text)]
        choices = [*sorted(branch.words), *(HELP[slot] for slot in branch.slots)]
        return [*choices, "<cr>"] if branch.handler else choices

    @staticmethod
    def _split(line: str) -> list[_Word]:
        return [
            _Word(found.group(), found.start()) for found in re.finditer(r"\S+", line)
        ]

    @staticmethod
    def _keywords(branch: _Branch, word: str) -> list[str]:
        word = word.lower()
        if word in branch.words:
            return [word]
        return [name for name in branch.words if name.startswith(word)]

    @staticmethod
    def _slot(
        branch: _Branch, words: list[_Word], index: int
    ) -> tuple[_Branch | None, str, int]:
        word = words[index].text
        for kind, slot in branch.slots.items():
            if kind == "<interface>" and index + 1 < len(words):
                # `interface f 0/0` is one name in two words.
                joined = word + words[index + 1].text
                if word.isalpha() and CHECKS[kind](joined):
                    return slot, joined, 2
            if kind in CHECKS and CHECKS[kind](word):
                return slot, word, 1
        return None, "", 0


def marker(column: int) -> str:
    return f"{' ' * column}^\n% Invalid input detected at '^' marker.\n\n"
