"""Who waits for whom: one advisory lock per owner, held until the transaction ends."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.db import connection

# Serves every write: an advisory lock is taken by a 64-bit hash of its name; a collision makes two
# owners wait for each other and changes nothing else.
LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"


def owner_lock(user_id: UUID | None) -> str:
    """Name the lock under which one person's memories change; ownerless rows share one."""
    return f"owner:{user_id}" if user_id else "ownerless"


def lock(names: Iterable[str]) -> None:
    """Take these locks in a fixed order, so that two writers never wait in a circle."""
    with connection.cursor() as cursor:
        for name in sorted(set(names)):
            cursor.execute(LOCK, [name])
