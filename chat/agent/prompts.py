"""What the model is told before the conversation; made anew for each call."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from django.utils import timezone
from django.utils.translation import get_language_info

from chat.agent.context import RunContext
from chat.agent.tools.base import as_json
from chat.agent.tools.kit import DataSources, Kit
from chat.agent.tools.lab import Lab
from chat.agent.tools.topology import describe
from chat.profiles.placeholders import fill, used_in
from copilot_site.lib.errors import UserFacingError

logger = logging.getLogger(__name__)

_SECONDS = 2.0
_LENGTH = 12_000

_TITLE = """\
[task:title] Give this conversation a title: at most 40 characters, no quotation \
marks, no Markdown, one line, in {language}. Answer with the title alone.
"""


# Of the agent, not of a profile: every answer cites in the same way.
_CITE = """
Results of tools carry marks such as "cite": "[3]". Put the mark behind each statement \
that rests on it, in the text and never within code. Use no mark that is not there.
"""


def title_prompt(language: str) -> str:
    """In the language that the person chose, else in that of the message."""
    name = get_language_info(language)["name"] if language else ""
    return _TITLE.format(language=name or "the language of the message")


def system_prompt(context: RunContext, kit: Kit) -> Callable[[], Awaitable[str]]:
    """The profile's prompt, filled at each call with what is true then."""
    profile, project = context.profile, context.project
    used = used_in(profile.prompt)

    async def prompt() -> str:
        now = timezone.localtime()
        values = {
            "date": now.strftime("%A, %d %B %Y"),
            "time": now.strftime("%H:%M %Z"),
            "user": context.user.get_full_name() or context.user.get_username(),
            "project": project.name if project else "",
            "language": _language(context.language),
        }
        # The offline model reads no prompt, and asks for what it needs.
        if not context.choice.is_offline:
            if "topology" in used and kit.lab is not None:
                values["topology"] = await _bounded(_topology(kit.lab), "topology")
            if "schema" in used and kit.data is not None:
                values["schema"] = await _bounded(_schema(kit.data), "schema")
        text = fill(profile.prompt, values)
        if profile.agent == "lab":
            text += _CITE
        if project is not None:
            kind = "simulated" if project.server.is_simulated else "a real GNS3 project"
            text += f"\nThis lab is {kind}.\n"
        return context.masked(text)

    return prompt


def _language(code: str) -> str:
    if not code:
        return "the language of the person's message"
    name = get_language_info(code)["name"]
    return f"the language of the person's message ({name}, if in doubt)"


async def _bounded(reading: Awaitable[str], what: str) -> str:
    """A slow server must not keep a person from being answered."""
    try:
        async with asyncio.timeout(_SECONDS):
            return await reading
    except (UserFacingError, TimeoutError) as error:
        logger.info("No %s for the prompt: %s", what, error)
        return ""


async def _topology(lab: Lab) -> str:
    topology = await lab.topology()
    text = as_json(describe(topology, is_simulated=lab.is_simulated))
    # Half of a JSON text says nothing; the tool reads it in parts.
    return text if len(text) <= _LENGTH else ""


async def _schema(data: DataSources) -> str:
    parts = [f"{name}:\n{await data.schema(name)}" for name in data.names()]
    text = "\n\n".join(parts)
    return (
        text if len(text) <= _LENGTH else f"{text[:_LENGTH]}\n… cut: describe the rest"
    )
