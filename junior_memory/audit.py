"""Who did what: the one way to write an audit entry."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from junior_memory.models import ApiToken, AuditEntry, User


@dataclass(frozen=True, slots=True, kw_only=True)
class Doer:
    """Who acts and by what means: `page`, `api`, `tool`, `command`, `worker`, `admin`."""

    user: User | None = None
    token: ApiToken | None = None
    via: str


def record_audit(
    action: str,
    doer: Doer,
    *,
    now: datetime,
    person_id: UUID | None = None,
    memory_id: UUID | None = None,
    reason: str = "",
    **details: Any,
) -> AuditEntry:
    """Write one entry; `details` are counts, ids and words of our own, never memory content."""
    return AuditEntry.objects.create(
        action=action,
        actor=doer.user,
        token=doer.token,
        via=doer.via,
        person_id=person_id,
        memory_id=memory_id,
        reason=reason,
        details=details,
        created_at=now,
    )
