"""Events of a stretch of time as reports count them, and as a list shows them. No content."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

from django.db.models import Q, QuerySet

from junior_memory import events
from junior_memory.models import ConversationEvent
from junior_memory.records import After, Rows, stretch

Kind = Literal["recalls", "useful", "captures"]
RECALLS: Kind = "recalls"
USEFUL: Kind = "useful"
CAPTURES: Kind = "captures"
KINDS: tuple[Kind, ...] = (RECALLS, USEFUL, CAPTURES)

IS_USEFUL = ~Q(payload__memories=[])
"""A recall that put something into a prompt."""


def event_rows(
    kind: Kind, since: datetime, until: datetime
) -> QuerySet[ConversationEvent, ConversationEvent]:
    """Return the events of a kind in a stretch; both ends count."""
    name = events.MEMORIES_CAPTURED if kind == CAPTURES else events.MEMORIES_RECALLED
    rows = ConversationEvent.objects.filter(name=name, created_at__gte=since, created_at__lte=until)
    return rows.filter(IS_USEFUL) if kind == USEFUL else rows


@dataclass(frozen=True, slots=True)
class Happening:
    """One event as a list shows it; the cost is None when a call's price is not known."""

    id: UUID
    at: datetime
    agent: str
    memories: int
    candidates: int
    reason: str
    degraded: tuple[str, ...]
    cost_usd: Decimal | None


def list_events(
    kind: Kind,
    since: datetime,
    until: datetime,
    *,
    limit: int = 50,
    after: After | None = None,
) -> Rows[Happening]:
    """Return some of the events that are counted, newest first. One query."""
    rows = event_rows(kind, since, until).select_related("agent")
    found, last = stretch(rows, "created_at", limit=limit, after=after)
    return Rows(tuple(_happening(event) for event in found), last)


def _happening(event: ConversationEvent) -> Happening:
    payload: dict[str, Any] = event.payload
    return Happening(
        id=event.pk,
        at=event.created_at,
        agent=event.agent.name,
        memories=len(payload.get("memories", ())),
        candidates=int(payload.get("candidates", 0)),
        reason=str(payload.get("reason", "")),
        degraded=tuple(payload.get("degraded", ())),
        cost_usd=event.cost_usd,
    )
