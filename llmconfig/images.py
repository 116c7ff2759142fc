"""Pictures that came with a message: shown to models that see, told to the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage

from llmconfig.deltas import text_of

IMAGE_URL = "image_url"


@dataclass(frozen=True, slots=True)
class Image:
    """`url` is a data: URL; empty where the picture is not sent to anyone."""

    name: str
    url: str = field(default="", repr=False)


# By the id of the message that they came with.
Images = Mapping[str, Sequence[Image]]


def with_images(
    messages: Sequence[AnyMessage], images: Images, *, sees: bool
) -> list[AnyMessage]:
    """The same conversation, as this model can read it; what was given stays text."""
    return [
        _shown(message, images.get(message.id or "", ()), sees=sees)
        if isinstance(message, HumanMessage)
        else message
        for message in messages
    ]


def _shown(
    message: HumanMessage, images: Sequence[Image], *, sees: bool
) -> HumanMessage:
    if not images:
        return message
    sent = [image for image in images if sees and image.url]
    hidden = [image.name for image in images if image not in sent]
    text = text_of(message.content)
    if hidden:
        text = f"{text}\n[Pictures that you can't see: {', '.join(hidden)}]"
    if not sent:
        return message.model_copy(update={"content": text})
    parts: list[str | dict[str, Any]] = [{"type": "text", "text": text}]
    parts += [{"type": IMAGE_URL, IMAGE_URL: {"url": image.url}} for image in sent]
    return message.model_copy(update={"content": parts})
