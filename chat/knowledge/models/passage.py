"""A piece of a document: what is searched, found and cited."""

import uuid

from django.db import models

from chat.knowledge.models.document import Document


class Passage(models.Model):
    """Offsets count characters of the document's extracted text.

    `uid` is made of the document and the text: a re-ingested passage that did not
    change keeps it. The number is the row's name in the full-text index.
    """

    uid = models.UUIDField(unique=True, editable=False)
    document = models.ForeignKey(Document, models.CASCADE, related_name="passages")
    position = models.PositiveIntegerField()
    text = models.TextField()
    headings = models.JSONField(default=list)
    page = models.PositiveIntegerField(null=True)
    last_page = models.PositiveIntegerField(null=True)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    # The words by which it is found, as `terms` makes them.
    terms = models.TextField(editable=False)
    # 32-bit numbers, and which model made them; empty without embeddings.
    vector = models.BinaryField(null=True, editable=False)
    embedded_by = models.CharField(max_length=100, blank=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["document", "position"], name="one_passage_per_place"
            )
        ]

    def __str__(self) -> str:
        return f"{self.document_id} {self.position}"

    @property
    def citation_id(self) -> str:
        return f"passage:{self.uid}"

    @property
    def location(self) -> str:
        """Headings and pages, as a reader looks for it."""
        parts = [" › ".join(self.headings)] if self.headings else []
        if self.page is not None:
            last = self.last_page or self.page
            pages = f"p. {self.page}" if last == self.page else f"p. {self.page}–{last}"
            parts.append(pages)
        return ", ".join(parts)


def uid_of(document: Document, text: str, seen: int) -> uuid.UUID:
    """`seen`: how often the same text came before in the document."""
    return uuid.uuid5(document.pk, f"{seen}:{text}")
