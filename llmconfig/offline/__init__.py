"""The model that needs no model."""

from llmconfig.offline.model import OfflineChatModel

__all__ = ["OfflineChatModel"]
