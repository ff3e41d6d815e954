"""Conversation events: names, versions, payloads, and the cost feed that sums them.

Payloads hold ids, kinds and counts, never content; rendering looks text up through visibility, so
that forgotten text disappears from history.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID

from django.db import connection
from pydantic import BaseModel, ConfigDict, Field

from junior_memory.models import (
    Agent,
    CompletedSession,
    ConversationEvent,
    ModelCall,
    User,
)

NAMESPACE = "memory"
MEMORIES_CAPTURED = "memories_captured"
MEMORIES_RECALLED = "memories_recalled"
MEMORIES_CAPTURE_FAILED = "memories_capture_failed"
MEMORY_REVIEWED = "memory_reviewed"


class Payload(BaseModel):
    """What an event says; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class CapturedMemory(Payload):
    """One memory that became active by a session."""

    id: UUID
    kind: Literal["preference", "procedure", "knowledge"]
    visibility: Literal["session", "private", "org", "public"]
    observed_at: datetime


class MemoriesCaptured(Payload):
    """`memories_captured` v2: also when empty; the counts say what became of the rest."""

    memories: list[CapturedMemory] = Field(max_length=100)
    existing: int = Field(default=0, ge=0)
    blocked: int = Field(default=0, ge=0)
    held: int = Field(default=0, ge=0)
    secrets: int = Field(default=0, ge=0)
    topics: int = Field(default=0, ge=0)
    dropped: int = Field(default=0, ge=0)
    refused: int = Field(default=0, ge=0)
    superseded: int = Field(default=0, ge=0)
    conflicts: int = Field(default=0, ge=0)
    cost_by_operation: dict[str, str] = Field(default_factory=dict)


class RecalledMemory(Payload):
    """One memory that a recall put into a prompt, with its place and the lists that found it."""

    id: UUID
    rank: int = Field(ge=1)
    legs: list[str] = Field(default_factory=list)


class MemoriesRecalled(Payload):
    """`memories_recalled` v1: the ids in the order of the prompt; invisible in transcripts."""

    recall_id: UUID
    memories: list[RecalledMemory] = Field(max_length=20)
    candidates: int = Field(default=0, ge=0)
    withheld_secrets: int = Field(default=0, ge=0)
    degraded: list[str] = Field(default_factory=list)
    reason: str = ""


class MemoryReviewed(Payload):
    """`memory_reviewed` v1: an explicit request that a model reviewed, and what came of it.

    `decision` is store, reject or failed; `reason` a reject reason or why the review failed.
    """

    decision: Literal["store", "reject", "failed"]
    reason: str = ""
    kind: Literal["", "preference", "procedure", "knowledge"] = ""
    memory_id: UUID | None = None
    superseded: list[UUID] = Field(default_factory=list)
    cost_by_operation: dict[str, str] = Field(default_factory=dict)


class CaptureFailed(Payload):
    """`memories_capture_failed` v1: a session that was given up, with its reason."""

    reason: str
    attempts: int = Field(ge=1)


VERSIONS: dict[str, tuple[int, type[Payload]]] = {
    MEMORIES_CAPTURED: (2, MemoriesCaptured),
    MEMORIES_RECALLED: (1, MemoriesRecalled),
    MEMORIES_CAPTURE_FAILED: (1, CaptureFailed),
    MEMORY_REVIEWED: (1, MemoryReviewed),
}


OWN_CALLS = """
UPDATE junior_memory_modelcall SET event_id = %s WHERE id = ANY(%s) AND event_id IS NULL
"""


def record_event(
    name: str,
    payload: Payload,
    *,
    conversation_id: str,
    agent: Agent,
    owner: User | None,
    now: datetime,
    session: CompletedSession | None = None,
    calls: Sequence[ModelCall] = (),
    once_key: str | None = None,
) -> ConversationEvent:
    """Append one event and hand it the model calls it owns; its cost is their sum.

    The cost is 0 without calls and unknown as soon as one call's price is. With `once_key` a repeat
    returns the first event unchanged. Raises KeyError for an unknown name and TypeError for a
    payload of another event.
    """
    version, expected = VERSIONS[name]
    # A call that comes in late belongs to no event, rather than to one that does not count it.
    owned = tuple(calls)
    if not isinstance(payload, expected):
        raise TypeError(f"{name} takes {expected.__name__}")
    fields = {
        "namespace": NAMESPACE,
        "name": name,
        "version": version,
        "conversation_id": conversation_id,
        "agent": agent,
        "owner": owner,
        "session": session,
        "payload": payload.model_dump(mode="json"),
        "cost_usd": sum_costs([call.cost_usd for call in owned]),
        "created_at": now,
    }
    if once_key is None:
        event = ConversationEvent.objects.create(**fields)
    else:
        event, created = ConversationEvent.objects.get_or_create(once_key=once_key, defaults=fields)
        if not created:
            return event
    if owned:
        # Spelled out: making the statement takes longer than running it, and an answer waits.
        with connection.cursor() as cursor:
            cursor.execute(OWN_CALLS, [event.pk, [call.pk for call in owned]])
    return event


def sum_costs(costs: Sequence[Decimal | None]) -> Decimal | None:
    """Add costs in US dollars: 0 for none, unknown (None) when any of them is unknown."""
    total = Decimal(0)
    for cost in costs:
        if cost is None:
            return None
        total += cost
    return total


def cost_by_operation(calls: Sequence[ModelCall]) -> dict[str, str]:
    """Split what calls cost by operation, in words for a payload: US dollars, or unknown."""
    split: dict[str, str] = {}
    for operation in sorted({call.operation for call in calls}):
        cost = sum_costs([call.cost_usd for call in calls if call.operation == operation])
        split[operation] = "unknown" if cost is None else str(cost)
    return split


def captured_payload(event: ConversationEvent) -> MemoriesCaptured:
    """Read a stored `memories_captured` event."""
    return MemoriesCaptured.model_validate(event.payload)
