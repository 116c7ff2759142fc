"""Makes a conversation title from the user's message."""

import re
from collections.abc import Sequence

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

MARKER = "[task:title]"
MAX_LENGTH = 40


def wants_title(messages: Sequence[BaseMessage]) -> bool:
    return any(
        isinstance(message, SystemMessage) and MARKER in message.text
        for message in messages
    )


def make_title(messages: Sequence[BaseMessage]) -> str:
    """The first words of the first human message."""
    texts = [message.text for message in messages if isinstance(message, HumanMessage)]
    text = re.sub(r"[`*#\s]+", " ", texts[0] if texts else "").strip()
    if len(text) > MAX_LENGTH:
        cut = text[: MAX_LENGTH - 1]
        text = (cut.rsplit(" ", 1)[0] if " " in cut else cut).rstrip(" ,;:.") + "…"
    return text.strip(" \"'") or "New conversation"
