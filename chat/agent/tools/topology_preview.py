"""For changes of the lab itself: bound to its devices and links."""

from collections.abc import Callable
from typing import Any, TypeVar

import orjson

from chat.agent.tools.kit import Kit
from chat.agent.tools.preview import Preview, Shown, digest
from chat.agent.tools.topology import describe

_Arguments = TypeVar("_Arguments")


def of_topology(words: Callable[[_Arguments], str]) -> Preview[_Arguments]:
    """A preview in these words."""

    async def look(arguments: _Arguments, kit: Kit) -> Shown:
        assert kit.lab is not None
        topology = describe(await kit.lab.topology(), is_simulated=kit.lab.is_simulated)
        for part in ("nodes", "links"):
            topology[part].sort(key=orjson.dumps)
        return Shown(
            words(arguments), state={"topology": digest(orjson.dumps(topology))}
        )

    def edit(arguments: _Arguments, proposal: dict[str, Any]) -> dict[str, Any]:
        return {**proposal, "summary": words(arguments)}

    return Preview(look, edit)
