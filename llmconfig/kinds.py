"""The words that a config is described by: what a model is for, and what it can."""

from typing import Final

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Operation(TextChoices):
    """What a model is asked for; a config without any serves all."""

    CHAT = "chat", _("answers")
    TITLE = "title", _("titles")
    PLANNING = "planning", _("planning")
    ANALYSIS = "analysis", _("data analysis")
    WEB_SEARCH = "web_search", _("web search")
    EMBEDDING = "embedding", _("embeddings")


class Mode(TextChoices):
    """Quick and cheap, or slow and good."""

    FAST = "fast", _("fast")
    BALANCED = "balanced", _("balanced")
    THOROUGH = "thorough", _("thorough")


class ModelType(TextChoices):
    """GNS3's words."""

    TEXT = "text", _("text")
    VISION = "vision", _("vision")
    STT = "stt", _("speech to text")
    TTS = "tts", _("text to speech")
    MULTIMODAL = "multimodal", _("multimodal")
    EMBEDDING = "embedding", _("embedding")
    RERANKING = "reranking", _("reranking")
    OTHER = "other", _("other")


CAPABILITIES: Final = ("tools", "vision", "structured_output", "reasoning")
# What can hold a conversation.
CONVERSING: Final = (
    ModelType.TEXT,
    ModelType.VISION,
    ModelType.MULTIMODAL,
    ModelType.OTHER,
)


def types_for(operation: str) -> tuple[ModelType, ...]:
    """Which kinds of model can do this at all."""
    if operation == Operation.EMBEDDING:
        return (ModelType.EMBEDDING,)
    return CONVERSING
