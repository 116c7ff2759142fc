"""The models of one run in the order in which they are asked. Plain Python.

One that is down, used up or too small for the conversation hands over to the next.
One that is set up wrongly does not: whoever set it up should hear of it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from langchain_core.language_models import BaseChatModel

from llmconfig.errors import (
    ModelError,
    ModelOverflow,
    ModelQuotaUsedUp,
    ModelRateLimited,
    ModelStalled,
    ModelStreamCut,
    ModelStreamFailed,
    ModelUnreachable,
    ModelWithoutTools,
)
from llmconfig.window import Fit

_OUTAGES = (
    ModelUnreachable,
    ModelRateLimited,
    ModelQuotaUsedUp,
    ModelStalled,
    ModelStreamCut,
    ModelStreamFailed,
)


@dataclass
class Candidate:
    """One model, made when its turn comes: it carries its key."""

    name: str
    make: Callable[[], BaseChatModel] = field(repr=False)
    fit: Fit
    # In thousands of tokens; None: no limit.
    context_limit: int | None = None
    calls_tools: bool | None = None
    prompts_tools: bool = False
    sees_images: bool = False
    masked: Callable[[str], str] = str
    _model: BaseChatModel | None = field(default=None, repr=False)

    @property
    def model(self) -> BaseChatModel:
        if self._model is None:
            self._model = self.make()
        return self._model


class Chain:
    """Whose turn it is; it stays with the one that answered."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self.candidates = list(candidates)
        self.place = 0
        # Of which candidates a person has been told that they cannot call tools.
        self.told: set[int] = set()

    @property
    def current(self) -> Candidate:
        return self.candidates[self.place]

    def after(self, error: ModelError) -> int | None:
        """The place of the next one that may do better; None: the error stands."""
        for place in range(self.place + 1, len(self.candidates)):
            if self._may_do_better(self.candidates[place], error):
                return place
        return None

    def _may_do_better(self, candidate: Candidate, error: ModelError) -> bool:
        match error:
            case ModelOverflow():
                limit, now = candidate.context_limit, self.current.context_limit
                return limit is None or (now is not None and limit > now)
            case ModelWithoutTools():
                return candidate.calls_tools is not False
            case _:
                return isinstance(error, _OUTAGES)
