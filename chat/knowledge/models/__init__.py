from chat.knowledge.models.collection import Collection
from chat.knowledge.models.document import Document
from chat.knowledge.models.passage import Passage

__all__ = ["Collection", "Document", "Passage"]
