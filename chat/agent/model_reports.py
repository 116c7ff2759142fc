"""What happens between a run's models: on the ledger first, then told as events."""

from chat.agent.ledger import hand_over
from chat.agent.record import RunRecord
from chat.events.vocabulary import StatusChanged
from copilot_site.lib.orm import in_orm_thread
from llmconfig.learning import learn_no_tools
from llmconfig.window import Window


class ModelReports:
    """See `llmconfig.fallback.Reports`; places are those of the record's choices."""

    def __init__(self, record: RunRecord) -> None:
        self._record = record
        self._choices = record.choice.chain()

    def window(self, window: Window) -> None:
        self._record.window(window)

    async def fell_back(self, place: int, code: str, text: str) -> None:
        record = self._record
        record.choice = self._choices[place].after(record.choice, code)
        if record.entry is not None:
            await in_orm_thread(hand_over)(record.entry, record.choice, code)
        record.notes.append(text)
        record.log.put(StatusChanged("fallback", text))

    async def cannot_call(self, place: int, text: str, *, is_new: bool) -> None:
        record = self._record
        config = self._choices[place].config
        if is_new and config is not None:
            await in_orm_thread(learn_no_tools)(config)
        record.notes.append(text)
        record.log.put(StatusChanged("model_without_tools", text))
