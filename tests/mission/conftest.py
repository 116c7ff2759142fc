"""Runs executed in the test's own process, as in tests/chat."""

from tests.chat.agent.conftest import execute
from tests.chat.conftest import checkpoints, llm, session

__all__ = ["checkpoints", "execute", "llm", "session"]
