"""How many rows there are, kept by the database itself in the transaction that changes them.

Triggers write these tables (migration 0012); nothing else does. Several rows may be about the
same: each is changed by one writer at a time, so that none waits for another. Their sum counts.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from junior_memory.models.memory import MemoryKind, Origin, Visibility
from junior_memory.querysets import TallyQuerySet


class MemoryTally(models.Model):
    """Memories of one sort that were created on one UTC day.

    `rows` are all of them; `kept` those not erased; `held` those that waited for a word, ever;
    `active` those not held, archived or superseded, whether past their date or not.
    """

    id = models.BigAutoField(primary_key=True)
    day = models.DateField()
    visibility = models.CharField(max_length=8, choices=Visibility.choices)
    kind = models.CharField(max_length=12, choices=MemoryKind.choices)
    origin = models.CharField(max_length=10, choices=Origin.choices)
    org_id = models.UUIDField(null=True)
    rows = models.BigIntegerField()
    kept = models.BigIntegerField()
    held = models.BigIntegerField()
    active = models.BigIntegerField()

    objects = TallyQuerySet.as_manager()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            # Serves each write, and what is counted by day.
            models.Index(fields=["day", "visibility", "kind", "origin"], name="memory_tally_sort"),
        ]

    def __str__(self) -> str:
        return str(self.id)


class VectorTally(models.Model):
    """Vectors of one model, by who sees their memories."""

    id = models.BigAutoField(primary_key=True)
    model_id = models.BigIntegerField()
    visibility = models.CharField(max_length=8, choices=Visibility.choices)
    org_id = models.UUIDField(null=True)
    rows = models.BigIntegerField()

    objects = TallyQuerySet.as_manager()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            # Serves each write.
            models.Index(fields=["model_id", "visibility"], name="vector_tally_model"),
        ]

    def __str__(self) -> str:
        return str(self.id)


class CallTally(models.Model):
    """Calls of models on one UTC day, which is that of the event that owns them where one does.

    `event` is the event's name, or nothing; `is_loose` says that a call was for no session, recall
    or tool call. `cost_usd` is what is known of it; the price of `unknown` calls is not.
    """

    id = models.BigAutoField(primary_key=True)
    day = models.DateField()
    event = models.CharField(max_length=60, blank=True)
    operation = models.CharField(max_length=40)
    model = models.CharField(max_length=200)
    outcome = models.CharField(max_length=40)
    is_loose = models.BooleanField()
    calls = models.BigIntegerField()
    unknown = models.BigIntegerField()
    cost_usd = models.DecimalField(max_digits=24, decimal_places=12)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            # Serves each write, and what a window of days cost.
            models.Index(fields=["day", "operation"], name="call_tally_day"),
        ]

    def __str__(self) -> str:
        return str(self.id)
