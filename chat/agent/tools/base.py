"""What a tool is: a typed schema for the model, an effect, and a result in JSON."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Generic, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from chat.agent.tools.kit import Kit
from chat.agent.tools.preview import Preview, Shown
from copilot_site.lib.errors import UserFacingError

Arguments = TypeVar("Arguments", bound="ToolArguments")


_MISSING = {"lab": "This conversation belongs to no project with a lab."}
_MISSING_PART = "This tool is not set up on this site."


class Effect(StrEnum):
    """What running a call does to the world outside."""

    READ = "read"
    IDEMPOTENT = "idempotent"
    CHANGE = "change"


class ToolFailed(UserFacingError):
    """The call could not be done; the model reads why and may try otherwise."""

    code = "tool_failed"


class ToolArguments(BaseModel):
    """Unknown fields are refused, so that a misspelt one is not silently ignored."""

    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class Tool(Generic[Arguments]):
    """One tool as the model sees it. `run` gets checked arguments and the run's kit.

    `needs` names the part of the kit without which the tool is not offered; "" where
    it needs none. `preview` shows a person what a call would change. A tool that
    `is_personal` changes nothing but what is the asking person's own: nobody else's
    right or consent is needed.
    """

    name: str
    description: str
    arguments: type[Arguments]
    run: Callable[[Arguments, Kit], Awaitable[Any]]
    effect_of: Callable[[Arguments], Effect] = field(
        default=lambda arguments: Effect.READ
    )
    needs: str = ""
    preview: Preview[Arguments] | None = None
    is_personal: bool = False

    def is_available(self, kit: Kit) -> bool:
        return not self.needs or getattr(kit, self.needs) is not None

    def schema(self) -> dict[str, Any]:
        """In OpenAI's form; not for changing."""
        return self._schema

    @cached_property
    def _schema(self) -> dict[str, Any]:
        # It takes a millisecond, and a model is shown a dozen at every call.
        parameters = self.arguments.model_json_schema()
        parameters.pop("title", None)
        parameters.pop("description", None)
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": parameters,
            },
        }

    def effect(self, arguments: dict[str, Any]) -> Effect:
        """READ for arguments that do not fit: such a call is not run."""
        try:
            return self.effect_of(self.arguments.model_validate(arguments))
        except ValidationError:
            return Effect.READ

    def needs_consent(self, arguments: dict[str, Any]) -> bool:
        """Whether it changes what others share."""
        return not self.is_personal and self.effect(arguments) != Effect.READ

    async def call(self, arguments: dict[str, Any], kit: Kit) -> Any:
        """Raises UserFacingError for all that is anticipated."""
        return await self.run(self._checked(arguments, kit), kit)

    async def look(self, arguments: dict[str, Any], kit: Kit) -> Shown:
        """What the call would change; only reads. Raises UserFacingError."""
        checked = self._checked(arguments, kit)
        if self.preview is None:
            return Shown(f"Use {self.name.replace('_', ' ')}")
        return await self.preview.look(checked, kit)

    def edit(
        self, arguments: dict[str, Any], proposal: dict[str, Any]
    ) -> dict[str, Any]:
        """The proposal for a person's own arguments. Raises ToolFailed."""
        checked = self._valid(arguments)
        return self.preview.edit(checked, proposal) if self.preview else proposal

    def _checked(self, arguments: dict[str, Any], kit: Kit) -> Arguments:
        checked = self._valid(arguments)
        if not self.is_available(kit):
            raise ToolFailed(_MISSING.get(self.needs, _MISSING_PART))
        return checked

    def _valid(self, arguments: dict[str, Any]) -> Arguments:
        try:
            return self.arguments.model_validate(arguments)
        except ValidationError as error:
            raise ToolFailed(_explain(error)) from None

    def render(self, value: Any, limit: int) -> str:
        """The result as JSON text, not longer than `limit` characters."""
        return capped(as_json(value), limit)


def as_json(value: Any) -> str:
    """JSON whatever a tool returned: foreign types become text."""
    try:
        data = orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS)
    except (TypeError, ValueError):
        data = orjson.dumps(repr(value))
    return data.decode()


def capped(text: str, limit: int) -> str:
    """Cut in the middle of nowhere, but saying so."""
    if len(text) <= limit:
        return text
    note = (
        f"\n… cut: {len(text)} characters in all, the first {limit} are shown. "
        "Ask for less at once, or for one part."
    )
    return text[:limit] + note


def _explain(error: ValidationError) -> str:
    """Field by field, without the values: they may be long."""
    faults = [
        f"{'.'.join(map(str, fault['loc'])) or 'arguments'}: {fault['msg']}"
        for fault in error.errors()[:5]
    ]
    return f"The arguments do not fit: {'; '.join(faults)}."
