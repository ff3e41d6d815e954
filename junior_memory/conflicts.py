"""Two active memories that adjudication thinks disagree: a person's inbox, and their decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from junior_memory import clock, forgetting
from junior_memory.access import Viewer
from junior_memory.audit import Doer, record_audit
from junior_memory.errors import Conflict as ConflictError
from junior_memory.errors import InvalidInput, NotFound
from junior_memory.locks import lock, owner_lock
from junior_memory.models import Conflict, Memory

MAX_ROWS = 100
"""Conflicts that one read returns."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One open conflict with its two memories, both the viewer's own and active."""

    id: UUID
    first: Memory
    second: Memory
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person kept, and which memories were forgotten by it."""

    id: UUID
    kept: str
    forgotten: tuple[UUID, ...]


def _open(viewer: Viewer, now: datetime) -> QuerySet[Conflict, Conflict]:
    mine = Memory.objects.own(viewer).active(now).values("pk")
    return Conflict.objects.filter(resolved_at__isnull=True, first__in=mine, second__in=mine)


def open_ids(viewer: Viewer, now: datetime) -> QuerySet[Conflict, Any]:
    """Select the ids of what waits for this person's decision."""
    return _open(viewer, now).values("pk")


def open_conflicts(viewer: Viewer, *, now: datetime | None = None) -> tuple[Proposal, ...]:
    """Return what waits for this person's decision, oldest first. A fixed number of queries."""
    moment = now or clock.now()
    rows = list(_open(viewer, moment).order_by("created_at", "id")[:MAX_ROWS])
    ids = [one for row in rows for one in (row.first_id, row.second_id)]
    mine = Memory.objects.own(viewer).active(moment).filter(pk__in=ids)
    texts = {memory.pk: memory for memory in mine.for_list()}
    return tuple(
        Proposal(row.pk, texts[row.first_id], texts[row.second_id], row.created_at)
        for row in rows
        if row.first_id in texts and row.second_id in texts
    )


def propose(first: Memory, second: Memory, *, now: datetime) -> bool:
    """Put to their owner that two memories disagree; False when that was put before.

    Inside the caller's transaction, under the owner's lock. A decision once taken stands.
    """
    pairs = ((first, second), (second, first))
    known = Q()
    for one, other in pairs:
        known |= Q(first=one, second=other)
    if first.pk == second.pk or Conflict.objects.filter(known).exists():
        return False
    Conflict.objects.create(first=first, second=second, created_at=now)
    return True


def reopen_conflict(
    viewer: Viewer, conflict_id: UUID, *, doer: Doer, now: datetime | None = None
) -> Proposal:
    """Take a decision back: what it forgot is restored, and the two wait again.

    Repeating it changes nothing. Raises NotFound, Conflict when a memory cannot come back.
    """
    moment = now or clock.now()
    with transaction.atomic():
        row = _locked(viewer, conflict_id)
        if row.resolved_at is not None:
            for memory_id in _losers(row, row.kept):
                forgetting.restore(viewer, memory_id, doer=doer, now=moment)
            row.kept, row.resolved_at = "", None
            row.save(update_fields=["kept", "resolved_at"])
            record_audit(
                "conflict_reopened",
                doer,
                now=moment,
                person_id=viewer.user.pk if viewer.user else None,
                conflict=str(row.pk),
            )
    found = [one for one in open_conflicts(viewer, now=moment) if one.id == conflict_id]
    if not found:
        raise NotFound
    return found[0]


def resolve_conflict(
    viewer: Viewer, conflict_id: UUID, *, keep: str, doer: Doer, now: datetime | None = None
) -> Decision:
    """Keep the first, the second, both or none; what is not kept is forgotten and can be restored.

    Repeating the same decision changes nothing. Raises NotFound, InvalidInput for another word,
    Conflict `already_decided` for another decision than the one that was taken.
    """
    moment = now or clock.now()
    if keep not in Conflict.Keep.values:
        raise InvalidInput(fields={"keep": "unknown"})
    with transaction.atomic():
        row = _locked(viewer, conflict_id)
        losers = _losers(row, keep)
        if row.resolved_at is not None:
            if row.kept != keep:
                raise ConflictError("That was decided already.", code="already_decided")
            return Decision(row.pk, row.kept, losers)
        if not _open(viewer, moment).filter(pk=row.pk).exists():
            raise NotFound
        for memory_id in losers:
            forgetting.forget(viewer, memory_id, doer=doer, now=moment)
        row.kept, row.resolved_at = keep, moment
        row.save(update_fields=["kept", "resolved_at"])
        record_audit(
            "conflict_decided",
            doer,
            now=moment,
            person_id=viewer.user.pk if viewer.user else None,
            conflict=str(row.pk),
            kept=keep,
        )
    return Decision(row.pk, keep, losers)


def _locked(viewer: Viewer, conflict_id: UUID) -> Conflict:
    """Fetch one of this person's conflicts under their lock, decided or not; raises NotFound."""
    lock([owner_lock(viewer.user.pk if viewer.user else None)])
    mine = Memory.objects.own(viewer).values("pk")
    rows = Conflict.objects.filter(pk=conflict_id, first__in=mine, second__in=mine)
    row = rows.select_for_update(of=("self",)).first()
    if row is None:
        raise NotFound
    return row


def _losers(row: Conflict, keep: str) -> tuple[UUID, ...]:
    wanted: Sequence[UUID] = {
        Conflict.Keep.FIRST: (row.second_id,),
        Conflict.Keep.SECOND: (row.first_id,),
        Conflict.Keep.BOTH: (),
        Conflict.Keep.NONE: (row.first_id, row.second_id),
    }[Conflict.Keep(keep)]
    return tuple(wanted)
