"""Vectors derived from memories, and the models that made them."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from pgvector.django import HalfVectorField

from junior_memory.models.memory import Memory, Visibility

IN_NO_BATCH = 2_147_483_647
"""The batch of a public vector that is in none yet: behind all others (`vector_index.py`)."""

NEVER_IN_BATCH = 0
"""The batch of one that is not public. Not the same, so that the planner knows how few are behind
the last batch."""


class EmbeddingModel(models.Model):
    """One model whose vectors are kept. Search uses the one that is in use."""

    class State(models.TextChoices):
        """What its vectors are for."""

        IN_USE = "in_use", "In use"
        PREPARING = "preparing", "Being prepared"
        PREVIOUS = "previous", "Kept to go back to"

    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=200)
    dimensions = models.PositiveSmallIntegerField()
    metric = models.CharField(max_length=10, default="cosine")
    state = models.CharField(max_length=10, choices=State.choices)
    created_at = models.DateTimeField()
    switched_at = models.DateTimeField(null=True)
    checked_to = models.UUIDField(null=True)
    """Up to which memory the repair has come in its present round."""
    batches = models.PositiveIntegerField(default=0, db_default=0)
    """How many batches its public vectors have been put into."""

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["provider", "model", "dimensions"], name="embedding_model_unique"
            ),
            # Decides races: search reads one model at any moment.
            models.UniqueConstraint(
                fields=["state"],
                condition=models.Q(state="in_use"),
                name="embedding_model_one_in_use",
            ),
            models.CheckConstraint(
                condition=models.Q(dimensions__gte=1, dimensions__lte=2000),
                name="embedding_model_dimensions",
            ),
            models.CheckConstraint(
                condition=models.Q(metric="cosine"), name="embedding_model_metric_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}"


class MemoryEmbedding(models.Model):
    """A vector derived from one active memory by one model; may be deleted and rebuilt at any time.

    `owner_id`, `org_id` and `visibility` are copies by which near rows are found without a join;
    they narrow, they grant nothing. `owner_id` is set for private and session rows alone, `org_id`
    for org rows alone.
    """

    id = models.BigAutoField(primary_key=True)
    # Without an index of its own: embedding_unique begins with it.
    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="+", db_index=False)
    embedding_model = models.ForeignKey(
        EmbeddingModel, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    owner_id = models.UUIDField(null=True)
    org_id = models.UUIDField(null=True)
    visibility = models.CharField(max_length=8, choices=Visibility.choices)
    content_hash = models.CharField(max_length=80)
    vector = HalfVectorField()
    batch = models.PositiveIntegerField(db_default=IN_NO_BATCH)
    """Of public vectors: the one they were put into, by whose number processes load them."""
    created_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["memory", "embedding_model"], name="embedding_unique"),
            # A public vector at 0 would be found by nobody.
            models.CheckConstraint(
                condition=~models.Q(visibility="public") | models.Q(batch__gt=NEVER_IN_BATCH),
                name="embedding_public_in_a_batch",
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # Serves the exact scan of a person's own rows.
            models.Index(
                fields=["owner_id", "embedding_model"],
                name="embedding_own",
                condition=models.Q(owner_id__isnull=False),
            ),
            # Serves the exact scan of an organization's rows.
            models.Index(
                fields=["org_id", "embedding_model"],
                name="embedding_org",
                condition=models.Q(org_id__isnull=False),
            ),
            # Serves public rows that are in no batch or in one not loaded, the loading of batches,
            # which of their rows are left, and the completion of a short list.
            models.Index(
                fields=["embedding_model", "batch"],
                include=["memory"],
                name="embedding_batches",
                condition=models.Q(visibility="public"),
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)
