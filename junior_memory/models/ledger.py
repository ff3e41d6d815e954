"""What happened: events, model calls, audit entries, receipts. Never memory content."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models

from junior_memory.models.people import Agent, ApiToken, User
from junior_memory.models.sessions import CompletedSession


class ConversationEvent(models.Model):
    """An append-only row of one conversation: ids, kinds and counts, never content."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    namespace = models.CharField(max_length=40, default="memory")
    name = models.CharField(max_length=60)
    version = models.PositiveSmallIntegerField()
    conversation_id = models.CharField(max_length=255)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    session = models.ForeignKey(
        CompletedSession, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    once_key = models.CharField(max_length=300, null=True, unique=True)  # noqa: DJ001
    payload = models.JSONField(default=dict)
    cost_usd = models.DecimalField(max_digits=18, decimal_places=12, null=True)
    created_at = models.DateTimeField()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            # Serves the cost charts and reports: one name by day.
            models.Index(fields=["name", "created_at"], name="event_by_day"),
            # Serves the rows of one conversation.
            models.Index(fields=["conversation_id", "created_at"], name="event_by_conversation"),
        ]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name} v{self.version}"


class MemoryUse(models.Model):
    """One memory that one recall put into a prompt, so that "where was it used" is a look-up."""

    id = models.BigAutoField(primary_key=True)
    memory = models.ForeignKey("junior_memory.Memory", on_delete=models.CASCADE, related_name="+")
    event = models.ForeignKey(ConversationEvent, on_delete=models.CASCADE, related_name="+")
    viewer = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    conversation_id = models.CharField(max_length=255)
    rank = models.PositiveSmallIntegerField()
    leg = models.CharField(max_length=20)
    used_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["event", "memory"], name="use_unique"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # Serves /uses and "used n times".
            models.Index(fields=["memory", "-used_at"], name="use_by_memory"),
        ]

    def __str__(self) -> str:
        return str(self.id)


class ModelCall(models.Model):
    """One attempt to call a model, also failed, retried, late and empty ones."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    operation = models.CharField(max_length=40)
    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=200)
    input_tokens = models.PositiveIntegerField(default=0)
    cached_input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    reasoning_tokens = models.PositiveIntegerField(default=0)
    cost_usd = models.DecimalField(max_digits=18, decimal_places=12, null=True)
    outcome = models.CharField(max_length=40)
    duration_ms = models.PositiveIntegerField(default=0)
    agent = models.ForeignKey(Agent, null=True, on_delete=models.SET_NULL, related_name="+")
    session = models.ForeignKey(
        CompletedSession, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    event = models.ForeignKey(
        ConversationEvent, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    recall_id = models.UUIDField(null=True)
    tool_call_key = models.CharField(max_length=80, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            # Serves budgets and the cost feed by day.
            models.Index(fields=["created_at"], name="call_by_day"),
            # Serves an event's split by operation.
            models.Index(fields=["event"], name="call_by_event"),
            # Serves a session's cost.
            models.Index(fields=["session"], name="call_by_session"),
            # Serves the budgets of one agent.
            models.Index(fields=["agent", "created_at"], name="call_by_agent"),
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.outcome}"


class ToolCall(models.Model):
    """One write that a model asked for by its tool-call id, claimed before any model is called.

    What it came to is kept, so that a repeat answers the same and is not billed again.
    """

    key_hash = models.CharField(max_length=80, primary_key=True)
    tool = models.CharField(max_length=40)
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="+")
    claimed_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=64, blank=True)
    memory = models.ForeignKey(
        "junior_memory.Memory", null=True, on_delete=models.CASCADE, related_name="+"
    )

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            # Serves the clean-up of old calls.
            models.Index(fields=["claimed_at"], name="tool_call_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.tool} {self.outcome}"


class AuditEntry(models.Model):
    """Who did what to whose memory, when and by what means. Never memory content."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    action = models.CharField(max_length=40)
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    token = models.ForeignKey(ApiToken, null=True, on_delete=models.SET_NULL, related_name="+")
    via = models.CharField(max_length=20)
    person = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="+")
    memory_id = models.UUIDField(null=True)
    details = models.JSONField(default=dict)
    reason = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            # Serves a person's activity.
            models.Index(fields=["person", "-created_at"], name="audit_about_person"),
            # Serves a memory's history.
            models.Index(fields=["memory_id", "created_at"], name="audit_about_memory"),
        ]

    def __str__(self) -> str:
        return self.action


class ErasureReceipt(models.Model):
    """Proof that a memory was erased: where, how many rows, when."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    memory_id = models.UUIDField(unique=True)
    person = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="+")
    places = models.JSONField(default=list)
    erased_at = models.DateTimeField()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            # Serves a person's receipts.
            models.Index(fields=["person", "-erased_at"], name="receipt_own"),
        ]

    def __str__(self) -> str:
        return str(self.memory_id)


class AdminRead(models.Model):
    """A staff member's reasoned, time-boxed read of one person's memory; shown to that person."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    staff = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    reason = models.CharField(max_length=200)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return str(self.id)


class RateWindow(models.Model):
    """How often something was done in one minute by one token or address."""

    id = models.BigAutoField(primary_key=True)
    bucket = models.CharField(max_length=120)
    window_started_at = models.DateTimeField()
    count = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["bucket", "window_started_at"], name="rate_unique"),
        ]

    def __str__(self) -> str:
        return self.bucket
