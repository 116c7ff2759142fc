"""What a person thinks of an answer."""

from django.db import models
from django.utils import timezone

from chat.models.message import Message

COMMENT_LENGTH = 2_000


class Feedback(models.Model):
    """One verdict on one answer, by the person whose conversation it is."""

    class Value(models.TextChoices):
        UP = "up"
        DOWN = "down"

    message = models.OneToOneField(Message, models.CASCADE, related_name="feedback")
    value = models.CharField(max_length=8, choices=Value)
    comment = models.CharField(max_length=COMMENT_LENGTH, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name_plural = "feedback"

    def __str__(self) -> str:
        return f"{self.value} for {self.message_id}"
