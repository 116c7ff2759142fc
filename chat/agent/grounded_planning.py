"""The model that plans and judges for grounded answers, where it is another one."""

from dataclasses import dataclass

from chat.agent.context import RunContext
from chat.agent.grounded_record import GroundedRecord
from chat.agent.ledger import hand_over
from chat.events.vocabulary import StatusChanged
from chat.models import Run
from copilot_site.lib.orm import in_orm_thread
from llmconfig.clients import chain_of
from llmconfig.fallback import FallbackModel
from llmconfig.kinds import Operation
from llmconfig.learning import learn_no_tools
from llmconfig.selection import LLMNotConfigured, ModelChoice, choose
from llmconfig.window import Window
from projects.consoles.redaction import redact


def planning_choice(run: Run, context: RunContext) -> ModelChoice | None:
    """None: the run's own model plans. In a thread: it reads the database.

    Another one does where the profile says what planning wants, or where a config is
    made for planning.
    """
    if context.choice.is_offline:
        return None
    operation = Operation.PLANNING
    try:
        found = choose(user=context.user, **context.profile.model_for(operation))
    except LLMNotConfigured:
        return None
    config, own = found.config, context.choice.config
    if config is None or config == own:
        return None
    is_wanted = operation in context.profile.operations
    return found if is_wanted or operation in config.operations else None


def planning_model(choice: ModelChoice, context: RunContext) -> FallbackModel:
    """With those behind it; what the run's own model may read goes masked to others."""
    masked = str if context.masked is redact else redact
    return FallbackModel(chain_of(choice, masked))


@dataclass
class PlanningReports:
    """See `llmconfig.fallback.Reports`: the ledger and events, and not the answer."""

    record: GroundedRecord
    choice: ModelChoice

    def window(self, window: Window) -> None:
        """What is shown as filled is the window of the answer."""

    async def fell_back(self, place: int, code: str, text: str) -> None:
        record, chain = self.record, self.choice.chain()
        current = record.planning or self.choice
        record.planning = chain[place].after(current, code)
        if record.entry is not None:
            await in_orm_thread(hand_over)(record.entry, record.planning, code)
        record.log.put(StatusChanged("fallback", text))

    async def cannot_call(self, place: int, text: str, *, is_new: bool) -> None:
        config = self.choice.chain()[place].config
        if is_new and config is not None:
            await in_orm_thread(learn_no_tools)(config)
