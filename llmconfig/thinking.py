"""Models that think aloud in their answer: `<think>…</think>` at its beginning."""

_OPEN, _CLOSE = "<think>", "</think>"


class ThinkSplitter:
    """Tells thought from answer in a text that comes in any pieces."""

    def __init__(self) -> None:
        self._held = ""
        self._is_thinking = False
        self._is_decided = False

    def feed(self, text: str) -> tuple[str, str]:
        """(thought, answer): what of this piece, and of what was held, is which."""
        if self._is_decided and not self._is_thinking:
            return "", text
        self._held += text
        if not self._is_decided:
            start = self._held.lstrip()
            if len(start) < len(_OPEN) and _OPEN.startswith(start):
                return "", ""
            self._is_decided = True
            self._is_thinking = start.startswith(_OPEN)
            if not self._is_thinking:
                return "", self._released()
            self._held = start.removeprefix(_OPEN)
        thought, close, answer = self._held.partition(_CLOSE)
        if close:
            self._is_thinking, self._held = False, ""
            return thought, answer.lstrip("\n")
        kept = _beginning_of(_CLOSE, thought)
        self._held = thought[len(thought) - kept :]
        return thought[: len(thought) - kept], ""

    def finish(self) -> tuple[str, str]:
        """What was held back at the end."""
        rest = self._released()
        return (rest, "") if self._is_thinking else ("", rest)

    def _released(self) -> str:
        text, self._held = self._held, ""
        return text


def _beginning_of(tag: str, text: str) -> int:
    """How many characters at the text's end may be the beginning of the tag."""
    for length in range(min(len(tag) - 1, len(text)), 0, -1):
        if text.endswith(tag[:length]):
            return length
    return 0
