"""Memories that wait for a person's word: approved, declined, reported, or declined by time.

Also what staff take out of public memory, and bring back. With `memories` and `forgetting`, what
changes a Memory.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Max

from junior_memory import clock, embeddings, tombstones
from junior_memory.access import Viewer
from junior_memory.audit import Doer, record_audit
from junior_memory.conf import conf
from junior_memory.errors import Expired, Forbidden, InvalidInput, NotFound, QuotaExceeded
from junior_memory.fingerprints import fold
from junior_memory.forgetting import archive, bring_back
from junior_memory.locks import lock, owner_lock
from junior_memory.memories import active_twin, end_of_chain, quota_use
from junior_memory.models import (
    ArchiveReason,
    Memory,
    MemoryReport,
    Origin,
    SubjectType,
    Visibility,
)
from junior_memory.querysets import MemoryQuerySet
from junior_memory.text import clean_text, collapse

MAX_REASON = 200
HELD_REPORTED = "reported"
DECLINE_BATCH = 1000
SHORTEST_QUOTE = 12
"""Characters from which a memory's text inside a reason is a quotation, not a chance."""

BY_TIME = Doer(via="worker")
STAFF_MAY_RESTORE = frozenset({ArchiveReason.ADMIN_REMOVED, ArchiveReason.DECLINED})


def approve_held(
    viewer: Viewer, memory_id: UUID, *, doer: Doer, now: datetime | None = None
) -> Memory:
    """Let a held memory become active. Repeating it gives the same answer.

    Where the fact is remembered already, that memory stands for it and is returned. Raises
    NotFound, Expired, QuotaExceeded.
    """
    moment = now or clock.now()
    with transaction.atomic():
        memory = _decidable(viewer, memory_id)
        if memory.archived_at is not None:
            raise NotFound
        if memory.held_at is None:
            return _what_stands_for(memory)
        if memory.expires_at is not None and memory.expires_at <= moment:
            raise Expired
        stands = _settled(lambda: _let_in(memory, moment))
        if memory.origin == Origin.EXPLICIT:
            # Asked for in so many words: now that it counts, what was forgotten may be learned.
            tombstones.lift_tombstones(_scopes(memory), memory.content)
        _resolve_reports(memory, moment)
        record_audit("approved", doer, now=moment, person_id=memory.owner_id, memory_id=memory_id)
    return stands


def _what_stands_for(memory: Memory) -> Memory:
    """Return a memory that was let in before, or what replaced it since."""
    stands = end_of_chain(memory)
    if stands.archived_at is not None:
        raise NotFound
    return stands


def _scopes(memory: Memory) -> tombstones.Scopes:
    return tombstones.scopes_of(
        owner_id=memory.owner_id,
        subject_type=memory.subject_type,
        subject_key=memory.subject_key,
        org_id=memory.org_id,
        visibility=memory.visibility,
    )


def _let_in(memory: Memory, now: datetime) -> Memory:
    twin = active_twin([memory.fingerprint], now)
    if twin is not None:
        Memory.objects.filter(pk=memory.pk).update(
            held_at=None, superseded_at=now, superseded_by=twin
        )
        return twin
    if memory.owner is not None and memory.visibility != Visibility.PUBLIC:
        limit, use = conf().active_quota, quota_use(memory.owner, memory.agent, now=now)
        if use >= limit:
            raise QuotaExceeded(fields={"limit": str(limit), "use": str(use)})
    Memory.objects.filter(pk=memory.pk).update(held_at=None)
    memory.held_at = None
    embeddings.cover([memory], now=now)
    return memory


def _settled(decide: Callable[[], Memory]) -> Memory:
    """Decide, and once more when somebody stored the same public fact at this very moment.

    They hold another owner's lock, so that the constraint decides; their row is there by then.
    """
    try:
        with transaction.atomic():
            return decide()
    except IntegrityError:
        return decide()


def decline_held(
    viewer: Viewer, memory_id: UUID, *, doer: Doer, now: datetime | None = None
) -> None:
    """Forget a held memory, with its tombstone. Repeating it changes nothing. Raises NotFound."""
    moment = now or clock.now()
    with transaction.atomic():
        memory = _decidable(viewer, memory_id)
        if memory.archive_reason == ArchiveReason.DECLINED:
            return
        if memory.held_at is None or memory.archived_at is not None:
            raise NotFound
        archive([memory_id], reason=ArchiveReason.DECLINED, batch=None, now=moment)
        _resolve_reports(memory, moment)
        record_audit("declined", doer, now=moment, person_id=memory.owner_id, memory_id=memory_id)


def undo_decision(
    viewer: Viewer, memory_id: UUID, *, doer: Doer, now: datetime | None = None
) -> Memory:
    """Take an approval or a refusal back: the memory is held again and waits anew.

    What is held already is returned as it is. Where the fact is remembered meanwhile, that memory
    is returned. Raises NotFound for what was never held, was replaced or is erased; Expired,
    QuotaExceeded.
    """
    moment = now or clock.now()
    with transaction.atomic():
        memory = _decidable(viewer, memory_id)
        if memory.archived_at is None and memory.held_at is not None:
            return memory
        if memory.superseded_at is not None:
            raise NotFound
        if memory.archived_at is not None:
            back = bring_back(memory, now=moment, reasons=frozenset({ArchiveReason.DECLINED}))
            if back.pk != memory.pk:
                return back
        Memory.objects.filter(pk=memory.pk).update(held_at=moment)
        memory.held_at = moment
        embeddings.drop([memory.pk])
        _reopen_reports(memory)
        record_audit("undecided", doer, now=moment, person_id=memory.owner_id, memory_id=memory_id)
    return memory


def _resolve_reports(memory: Memory, now: datetime) -> None:
    MemoryReport.objects.filter(memory=memory, resolved_at__isnull=True).update(resolved_at=now)


def _reopen_reports(memory: Memory) -> None:
    """Open again the reports that the last decision settled."""
    reports = MemoryReport.objects.filter(memory=memory)
    last = reports.aggregate(last=Max("resolved_at"))["last"]
    if last is not None:
        reports.filter(resolved_at=last).update(resolved_at=None)


def may_report(viewer: Viewer, memory: Memory) -> bool:
    """True for a public memory's author and for whom it is about; asks the database nothing."""
    if viewer.user is None or memory.visibility != Visibility.PUBLIC:
        return False
    about = memory.subject_key if memory.subject_type == SubjectType.USER else None
    return memory.owner_id == viewer.user.pk or about == str(viewer.user.pk)


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
            "Give a reason of 1 to {limit} characters.",
            fields={"reason": "length"},
            values={"limit": MAX_REASON},
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
        if not may_report(viewer, memory):
            raise Forbidden("Only its author or the person it is about may report it.")
        report = MemoryReport.objects.create(
            memory=memory, reporter=viewer.user, reason=words, created_at=moment
        )
        Memory.objects.filter(pk=memory.pk).update(held_at=moment, held_reason=HELD_REPORTED)
        embeddings.drop([memory.pk])
        record_audit("reported", doer, now=moment, person_id=memory.owner_id, memory_id=memory.pk)
    return report


def take_public(
    viewer: Viewer, memory_id: UUID, *, reason: str, doer: Doer, now: datetime | None = None
) -> Memory:
    """Take a public memory out for staff, with tombstones; `moderation` says who may and why.

    Active or held. Repeating it returns the memory. Raises NotFound, and InvalidInput for a reason
    that quotes it: the reason outlives the memory.
    """
    moment = now or clock.now()
    with transaction.atomic():
        memory = _locked(viewer, memory_id)
        if memory.archive_reason == ArchiveReason.ADMIN_REMOVED:
            return memory
        is_out = memory.archived_at is not None or memory.superseded_at is not None
        if is_out or (memory.expires_at is not None and memory.expires_at <= moment):
            raise NotFound
        _check_quotes_nothing(reason, memory)
        archive([memory_id], reason=ArchiveReason.ADMIN_REMOVED, batch=None, now=moment)
        _resolve_reports(memory, moment)
        record_audit(
            "removed_public",
            doer,
            now=moment,
            person_id=memory.owner_id,
            memory_id=memory_id,
            reason=reason,
        )
        memory.refresh_from_db(fields=["archived_at", "archive_reason", "purge_at"])
    return memory


def return_public(
    viewer: Viewer, memory_id: UUID, *, reason: str, doer: Doer, now: datetime | None = None
) -> Memory:
    """Bring back a public memory that staff removed or declined; it counts at once.

    Active already: the memory. Remembered anew meanwhile: that one. Raises NotFound, also for what
    waits for a decision, Expired, and InvalidInput for a reason that quotes it.
    """
    moment = now or clock.now()
    with transaction.atomic():
        memory = _locked(viewer, memory_id)
        was_out = memory.archived_at is not None
        if not was_out and memory.held_at is not None:
            raise NotFound
        _check_quotes_nothing(reason, memory)
        back = _settled(lambda: _put_back(memory, moment))
        if was_out:
            record_audit(
                "restored_public",
                doer,
                now=moment,
                person_id=memory.owner_id,
                memory_id=back.pk,
                reason=reason,
            )
    return back


def _check_quotes_nothing(reason: str, memory: Memory) -> None:
    quoted = fold(memory.content)
    if len(quoted) >= SHORTEST_QUOTE and quoted in fold(reason):
        raise InvalidInput(
            "Say why without quoting the memory: the reason is kept when the memory is erased.",
            fields={"reason": "quotes the memory"},
        )


def _put_back(memory: Memory, now: datetime) -> Memory:
    Memory.objects.filter(pk=memory.pk).update(held_at=None)
    memory.held_at = None
    return bring_back(memory, now=now, reasons=STAFF_MAY_RESTORE)


def decline_stale_held(*, now: datetime | None = None) -> int:
    """Decline what nobody decided on within `held_days`; returns how many."""
    moment = now or clock.now()
    edge = moment - timedelta(days=conf().held_days)
    with transaction.atomic():
        rows = Memory.objects.held().filter(held_at__lte=edge)
        # Locked, so that a decision taken at this moment stands.
        stale = list(
            rows.select_for_update(of=("self",), skip_locked=True).only("pk", "owner_id")[
                :DECLINE_BATCH
            ]
        )
        ids = [memory.pk for memory in stale]
        archive(ids, reason=ArchiveReason.DECLINED, batch=None, now=moment)
        for memory in stale:
            _resolve_reports(memory, moment)
            record_audit(
                "declined", BY_TIME, now=moment, person_id=memory.owner_id, memory_id=memory.pk
            )
    return len(ids)


def _decidable(viewer: Viewer, memory_id: UUID) -> Memory:
    """Fetch a row that this viewer decides on, locked: their own; for staff public ones too."""
    return _fetch(viewer, memory_id, Memory.objects.decidable_by(viewer))


def _locked(viewer: Viewer, memory_id: UUID) -> Memory:
    """Fetch a public row in whatever state, locked."""
    rows = Memory.objects.visible_to(viewer).filter(visibility=Visibility.PUBLIC)
    return _fetch(viewer, memory_id, rows)


def _fetch(viewer: Viewer, memory_id: UUID, rows: MemoryQuerySet) -> Memory:
    """Fetch one of these rows under its owner's lock and the viewer's. Raises NotFound."""
    rows = rows.unpurged().filter(pk=memory_id)
    owners = list(rows.values_list("owner_id", flat=True))
    lock(owner_lock(one) for one in [*owners, viewer.user.pk if viewer.user else None])
    memory = rows.select_related("agent", "owner").select_for_update(of=("self",)).first()
    if memory is None:
        raise NotFound
    return memory
