"""Staff reading one person's memory: reasoned, time-boxed, read-only, shown to that person."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction

from junior_memory import clock
from junior_memory.audit import Doer, record_audit
from junior_memory.errors import Forbidden, InvalidInput
from junior_memory.models import AdminRead, User
from junior_memory.text import clean_text, collapse

READ_MINUTES = 15
"""How long one reasoned read lasts (DESIGN 2)."""
MAX_REASON = 200


def open_read(
    staff: User, person: User, *, reason: str, doer: Doer, now: datetime | None = None
) -> AdminRead:
    """Open a read of one person's memory for 15 minutes; the person sees who, why and when.

    Raises Forbidden unless `staff` is staff, InvalidInput without a reason of 1-200 characters.
    """
    moment = now or clock.now()
    if not (staff.is_staff and staff.is_active):
        raise Forbidden("Only staff may read somebody else's memory.")
    words = collapse(clean_text(reason, field="reason"))
    if not 1 <= len(words) <= MAX_REASON:
        raise InvalidInput(
            f"Give a reason of 1 to {MAX_REASON} characters.", fields={"reason": "length"}
        )
    with transaction.atomic():
        read = AdminRead.objects.create(
            staff=staff,
            person=person,
            reason=words,
            created_at=moment,
            expires_at=moment + timedelta(minutes=READ_MINUTES),
        )
        record_audit(
            "read_as_admin", doer, now=moment, person_id=person.pk, reason=words, read=str(read.pk)
        )
    return read
