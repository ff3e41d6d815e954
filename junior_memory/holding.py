"""Memories that wait for a person's word: approved, declined, reported, or declined by time.

With `memories` and `forgetting`, what changes a Memory.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from junior_memory import clock, embeddings
from junior_memory.access import Viewer
from junior_memory.audit import Doer, record_audit
from junior_memory.conf import conf
from junior_memory.errors import Forbidden, InvalidInput, NotFound
from junior_memory.forgetting import archive, lock_owner
from junior_memory.models import (
    ArchiveReason,
    Memory,
    MemoryReport,
    SubjectType,
    Visibility,
)
from junior_memory.text import clean_text, collapse

MAX_REASON = 200
HELD_REPORTED = "reported"
DECLINE_BATCH = 1000


def approve_held(
    viewer: Viewer, memory_id: UUID, *, doer: Doer, now: datetime | None = None
) -> Memory:
    """Let a held memory become active. Repeating it returns the memory. Raises NotFound."""
    moment = now or clock.now()
    with transaction.atomic():
        lock_owner(viewer)
        memory = _held(viewer, memory_id)
        if memory.archived_at is not None:
            raise NotFound
        if memory.held_at is None:
            return memory
        twin = Memory.objects.filter(fingerprint=memory.fingerprint).active(moment).first()
        if twin is not None:
            Memory.objects.filter(pk=memory.pk).update(
                held_at=None, superseded_at=moment, superseded_by=twin
            )
            return twin
        Memory.objects.filter(pk=memory.pk).update(held_at=None)
        MemoryReport.objects.filter(memory=memory, resolved_at__isnull=True).update(
            resolved_at=moment
        )
        record_audit("approved", doer, now=moment, person_id=memory.owner_id, memory_id=memory_id)
        memory.refresh_from_db(fields=["held_at"])
        embeddings.cover([memory], now=moment)
    return memory


def report_public(
    viewer: Viewer, memory_id: UUID, *, reason: str, doer: Doer, now: datetime | None = None
) -> MemoryReport:
    """Report a public memory; it is held at once and staff decide.

    Only its author or subject may. Repeating it while it is held returns the first report. Raises
    NotFound, Forbidden for others who see it, InvalidInput without a reason or for other rows.
    """
    moment = now or clock.now()
    words = collapse(clean_text(reason, field="reason"))
    if not 1 <= len(words) <= MAX_REASON or viewer.user is None:
        raise InvalidInput(
            f"Give a reason of 1 to {MAX_REASON} characters.", fields={"reason": "length"}
        )
    with transaction.atomic():
        seen = Memory.objects.visible_to(viewer).filter(pk=memory_id)
        known = MemoryReport.objects.filter(
            memory__in=seen, reporter=viewer.user, resolved_at__isnull=True
        ).first()
        if known is not None:
            return known
        memory = seen.active(moment).select_for_update(of=("self",)).first()
        if memory is None:
            raise NotFound
        if memory.visibility != Visibility.PUBLIC:
            raise InvalidInput("Only public memory is reported; forget your own.")
        about = memory.subject_type == SubjectType.USER and memory.subject_key
        if memory.owner_id != viewer.user.pk and about != str(viewer.user.pk):
            raise Forbidden("Only its author or the person it is about may report it.")
        report = MemoryReport.objects.create(
            memory=memory, reporter=viewer.user, reason=words, created_at=moment
        )
        Memory.objects.filter(pk=memory.pk).update(held_at=moment, held_reason=HELD_REPORTED)
        embeddings.drop([memory.pk])
        record_audit("reported", doer, now=moment, person_id=memory.owner_id, memory_id=memory.pk)
    return report


def decline_held(
    viewer: Viewer, memory_id: UUID, *, doer: Doer, now: datetime | None = None
) -> None:
    """Forget a held memory, with its tombstone. Repeating it changes nothing. Raises NotFound."""
    moment = now or clock.now()
    with transaction.atomic():
        lock_owner(viewer)
        memory = _held(viewer, memory_id)
        if memory.archive_reason == ArchiveReason.DECLINED:
            return
        if memory.held_at is None:
            raise NotFound
        archive([memory_id], reason=ArchiveReason.DECLINED, batch=None, now=moment)
        MemoryReport.objects.filter(memory=memory, resolved_at__isnull=True).update(
            resolved_at=moment
        )
        record_audit("declined", doer, now=moment, person_id=memory.owner_id, memory_id=memory_id)


def decline_stale_held(*, now: datetime | None = None) -> int:
    """Decline what nobody decided on within `held_days`; returns how many."""
    moment = now or clock.now()
    edge = moment - timedelta(days=conf().held_days)
    with transaction.atomic():
        rows = Memory.objects.held().filter(held_at__lte=edge)
        ids = list(rows.values_list("pk", flat=True)[:DECLINE_BATCH])
        archive(ids, reason=ArchiveReason.DECLINED, batch=None, now=moment)
    return len(ids)


def _held(viewer: Viewer, memory_id: UUID) -> Memory:
    """Fetch a held row that this viewer decides on: their own; for staff public ones too."""
    rows = Memory.objects.decidable_by(viewer).filter(pk=memory_id)
    memory = rows.select_for_update(of=("self",)).first()
    if memory is None or memory.purged_at is not None:
        raise NotFound
    return memory
