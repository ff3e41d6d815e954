"""What a person may read of what was done for, about and to them: marks, receipts, activity, moves.

Lists are bounded, newest first, and continue after the last row that was read. The text of a
forgotten memory is looked up through visibility and only until it is erased.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import models, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from junior_memory.access import Viewer
from junior_memory.audit import Doer, record_audit
from junior_memory.conf import conf
from junior_memory.errors import NotFound
from junior_memory.models import (
    ArchiveReason,
    AuditEntry,
    ErasureReceipt,
    ForgetBatch,
    Memory,
    Tombstone,
)

MAX_ROWS = 100
"""Rows that one read may ask for."""

Row = TypeVar("Row")
Record = TypeVar("Record", bound=models.Model)


@dataclass(frozen=True, slots=True)
class After:
    """The last row that was read of a list: its moment and its id."""

    at: datetime
    id: UUID


@dataclass(frozen=True, slots=True)
class Rows(Generic[Row]):
    """One stretch of a list, and where the next one begins; None at the end."""

    rows: tuple[Row, ...]
    after: After | None


def stretch(
    rows: QuerySet[Record, Record], field: str, *, limit: int, after: After | None
) -> tuple[list[Record], After | None]:
    """Read the newest rows by `field`, then id, after the last one read."""
    size = min(max(limit, 1), MAX_ROWS)
    if after is not None:
        later: dict[str, Any] = {f"{field}__lt": after.at}
        rows = rows.filter(Q(**later) | Q(**{field: after.at}, id__gt=after.id))
    found = list(rows.order_by(f"-{field}", "id")[: size + 1])
    last = found[size - 1] if len(found) > size else None
    return found[:size], After(getattr(last, field), last.pk) if last is not None else None


@dataclass(frozen=True, slots=True)
class Mark:
    """One entry of the never-learn-again list; `text` is empty once the memory is erased."""

    id: UUID
    memory_id: UUID
    kind: str
    agent: str
    created_at: datetime
    blocked: int
    last_blocked_at: datetime | None
    text: str
    purge_at: datetime | None


def marks_of(viewer: Viewer, *, limit: int = 25, after: After | None = None) -> Rows[Mark]:
    """Return what is never learned again about a person, one entry for each forgotten memory."""
    if viewer.user is None:
        return Rows((), None)
    same = Tombstone.objects.filter(
        memory=OuterRef("memory"), person=viewer.user, of=Tombstone.Of.CONTENT
    )
    first = (
        Tombstone.objects.filter(person=viewer.user, of=Tombstone.Of.CONTENT)
        .exclude(memory__archive_reason=ArchiveReason.ADMIN_REMOVED)
        .exclude(Exists(same.filter(id__lt=OuterRef("id"))))
        .select_related("memory__agent")
        .only(
            "id",
            "created_at",
            "blocked_count",
            "last_blocked_at",
            "memory__kind",
            "memory__purge_at",
            "memory__purged_at",
            "memory__agent__name",
        )
    )
    found, last = stretch(first, "created_at", limit=limit, after=after)
    texts = _texts(viewer, [mark.memory_id for mark in found])
    return Rows(tuple(_mark(mark, texts.get(mark.memory_id, "")) for mark in found), last)


def _texts(viewer: Viewer, ids: Sequence[UUID]) -> dict[UUID, str]:
    rows = Memory.objects.visible_to(viewer).unpurged().filter(pk__in=ids)
    return dict(rows.values_list("pk", "content"))


def _mark(mark: Tombstone, text: str) -> Mark:
    return Mark(
        id=mark.pk,
        memory_id=mark.memory_id,
        kind=mark.memory.kind,
        agent=mark.memory.agent.name,
        created_at=mark.created_at,
        blocked=mark.blocked_count,
        last_blocked_at=mark.last_blocked_at,
        text=text,
        purge_at=None if mark.memory.purged_at else mark.memory.purge_at,
    )


def lift_mark(viewer: Viewer, mark_id: UUID, *, doer: Doer, now: datetime | None = None) -> None:
    """Let one forgotten fact be learned again: its mark goes with those of the words it came from.

    The memory itself stays forgotten. Raises NotFound, also when it was lifted before.
    """
    moment = now or timezone.now()
    with transaction.atomic():
        # What staff removed is not its author's to let back in.
        mine = (
            Tombstone.objects.filter(person=viewer.user).exclude(
                memory__archive_reason=ArchiveReason.ADMIN_REMOVED
            )
            if viewer.user
            else None
        )
        mark = mine.filter(pk=mark_id).first() if mine is not None else None
        if mine is None or mark is None:
            raise NotFound
        Tombstone.objects.filter(person=viewer.user, memory_id=mark.memory_id).delete()
        record_audit(
            "mark_lifted",
            doer,
            now=moment,
            person_id=viewer.user.pk if viewer.user else None,
            memory_id=mark.memory_id,
        )


def receipts_of(
    viewer: Viewer, *, limit: int = 25, after: After | None = None
) -> Rows[ErasureReceipt]:
    """Return the proofs of what was erased for a person."""
    if viewer.user is None:
        return Rows((), None)
    rows = ErasureReceipt.objects.filter(person=viewer.user)
    found, last = stretch(rows, "erased_at", limit=limit, after=after)
    return Rows(tuple(found), last)


def activity_of(viewer: Viewer, *, limit: int = 25, after: After | None = None) -> Rows[AuditEntry]:
    """Return the audit entries about a person: what they, their assistants and staff did."""
    if viewer.user is None:
        return Rows((), None)
    rows = AuditEntry.objects.filter(person=viewer.user).select_related("token", "actor")
    found, last = stretch(rows, "created_at", limit=limit, after=after)
    return Rows(tuple(found), last)


def moves_of(
    viewer: Viewer, *, limit: int = 5, now: datetime | None = None
) -> tuple[ForgetBatch, ...]:
    """Return a person's latest moves of forgetting that can still be undone."""
    if viewer.user is None:
        return ()
    edge = (now or timezone.now()) - timedelta(days=conf().purge_after_days)
    moves = ForgetBatch.objects.filter(
        user=viewer.user, restored_at__isnull=True, forgotten__gt=0, created_at__gt=edge
    ).select_related("agent")
    return tuple(moves.order_by("-created_at", "id")[: min(max(limit, 1), MAX_ROWS)])
