"""Staff reading one person's memory: reasoned, time-boxed, read-only, shown to that person."""

from __future__ import annotations

import contextlib
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from junior_memory import access, clock
from junior_memory.audit import Doer, record_audit
from junior_memory.errors import Forbidden, InvalidInput, NotFound
from junior_memory.models import AdminRead, AuditEntry, Memory, User
from junior_memory.querysets import MemoryQuerySet
from junior_memory.text import clean_text, collapse

READ_MINUTES = 15
"""How long one reasoned read lasts (DESIGN 2)."""
MAX_REASON = 200
READ = "read_as_admin"
"""The action by which a read stands in the person's activity."""
MAX_READS = 100
"""Open reads that one look returns."""


def open_read(
    staff: User, person: User, *, reason: str, doer: Doer, now: datetime | None = None
) -> AdminRead:
    """Open a read of one person's memory for 15 minutes; the person sees who, why and when.

    Raises Forbidden unless `staff` is staff, InvalidInput without a reason of 1-200 characters.
    """
    moment = now or clock.now()
    if not (staff.is_staff and staff.is_active):
        raise Forbidden("Only staff may read somebody else's memory.")
    words = checked_reason(reason)
    with transaction.atomic():
        read = AdminRead.objects.create(
            staff=staff,
            person=person,
            reason=words,
            created_at=moment,
            expires_at=moment + timedelta(minutes=READ_MINUTES),
        )
        record_audit(READ, doer, now=moment, person_id=person.pk, reason=words, read=str(read.pk))
    return read


def checked_reason(reason: str) -> str:
    """Return a reason of staff's on one line. Raises InvalidInput unless it has 1-200 characters.

    It is shown to whom it concerns, so it says why and quotes no memory.
    """
    words = collapse(clean_text(reason, field="reason"))
    if not 1 <= len(words) <= MAX_REASON:
        raise InvalidInput(
            "Give a reason of 1 to {limit} characters.",
            fields={"reason": "length"},
            values={"limit": MAX_REASON},
        )
    return words


def person_named(name: str) -> User:
    """Return the person of this id or e-mail address. Raises NotFound."""
    wanted = Q(email=name.strip().lower())
    with contextlib.suppress(ValueError):
        wanted |= Q(pk=UUID(name.strip()))
    person = User.objects.filter(wanted).first()
    if person is None:
        raise NotFound("There is nobody of that id or address.")
    return person


def find_read(staff: User, read_id: UUID, *, now: datetime | None = None) -> AdminRead:
    """Return an open read of one's own. Raises NotFound for others', absent and finished ones."""
    moment = now or clock.now()
    read = _open(staff, moment).filter(pk=read_id).first() if staff.is_staff else None
    if read is None:
        raise NotFound("That read is not yours, or its 15 minutes are over.")
    return read


def open_reads(staff: User, *, now: datetime | None = None) -> list[AdminRead]:
    """Return one's own open reads, newest first."""
    if not staff.is_staff:
        return []
    return list(_open(staff, now or clock.now()).order_by("-created_at", "id")[:MAX_READS])


def _open(staff: User, now: datetime) -> QuerySet[AdminRead, AdminRead]:
    return AdminRead.objects.filter(staff=staff, expires_at__gt=now).select_related("person")


def rows_of(read: AdminRead, *, now: datetime | None = None) -> MemoryQuerySet:
    """Select what an open read shows: the person's own active rows, and nothing else.

    Own are private and session rows, and org rows they wrote in present organizations. What they
    forgot is theirs alone to see. Rows, not a Viewer: whoever reads may not act for the person.
    """
    moment = now or clock.now()
    if read.expires_at <= moment:
        return Memory.objects.none()
    return Memory.objects.own(access.person(read.person)).active(moment)


def reader_name(entry: AuditEntry) -> str | None:
    """Name who read somebody's memories with a reason; None for any other entry.

    The one deed of staff that its person is told the doer of.
    """
    if entry.action != READ or entry.actor is None:
        return None
    return entry.actor.display_name or entry.actor.email
