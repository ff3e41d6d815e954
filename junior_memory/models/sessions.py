"""Completed conversations on their way to becoming memory."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models

from junior_memory.models.memory import Location, SourcePlatform
from junior_memory.models.people import Agent, Identity, Organization, User


class SessionState(models.TextChoices):
    """How far a session has come."""

    QUEUED = "queued", "Queued"
    PROCESSING = "processing", "Processing"
    PROCESSED = "processed", "Processed"
    SKIPPED = "skipped", "Skipped"
    FAILED = "failed", "Failed"


class CompletedSession(models.Model):
    """One conversation that ended; its transcript lives only until it is processed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="+")
    session_id = models.CharField(max_length=255)
    conversation_id = models.CharField(max_length=255)
    organization = models.ForeignKey(
        Organization, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    owner = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    actor = models.ForeignKey(Identity, null=True, on_delete=models.SET_NULL, related_name="+")
    source_platform = models.CharField(max_length=8, choices=SourcePlatform.choices)
    source_key = models.CharField(max_length=255, blank=True)
    source_visibility = models.CharField(max_length=8)
    session_only = models.BooleanField(default=False)
    location = models.ForeignKey(Location, null=True, on_delete=models.SET_NULL, related_name="+")
    memory_mode = models.CharField(max_length=10, default="on")
    actors = models.JSONField(default=list)
    transcript = models.JSONField(null=True)
    extraction_cache = models.JSONField(null=True)
    body_hash = models.CharField(max_length=80)
    lock_key = models.CharField(max_length=300)
    completed_at = models.DateTimeField()
    state = models.CharField(
        max_length=10, choices=SessionState.choices, default=SessionState.QUEUED
    )
    reason = models.CharField(max_length=64, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField()
    first_attempt_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    erased_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Serves intake: the same session handed in twice.
            models.UniqueConstraint(fields=["agent", "session_id"], name="session_unique"),
            models.CheckConstraint(
                condition=models.Q(state__in=SessionState.values),
                name="session_state_known",
            ),
            models.CheckConstraint(
                condition=~models.Q(state__in=["processed", "skipped"])
                | models.Q(transcript__isnull=True, extraction_cache__isnull=True),
                name="session_transcript_erased",
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # Serves the queue report and the clean-up of old transcripts.
            models.Index(
                fields=["state", "created_at"],
                name="session_unfinished",
                condition=models.Q(transcript__isnull=False),
            ),
            # Serves the conversation page's right to know its own conversations.
            models.Index(fields=["owner", "conversation_id"], name="session_own_conversation"),
        ]

    def __str__(self) -> str:
        return self.session_id
