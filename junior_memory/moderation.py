"""Staff moderating public memory: out and back with a reason, and what people reported."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from junior_memory import holding
from junior_memory.access import Viewer
from junior_memory.admin_reads import checked_reason
from junior_memory.audit import Doer
from junior_memory.errors import Forbidden
from junior_memory.models import ArchiveReason, AuditEntry, Memory, MemoryReport, Visibility
from junior_memory.querysets import MemoryQuerySet


def remove_public(
    viewer: Viewer, memory_id: UUID, *, reason: str, doer: Doer, now: datetime | None = None
) -> Memory:
    """Remove a public memory; passive learning does not bring it back, `restore_public` does.

    Its author sees that, when and why. Repeating it returns the memory. Raises Forbidden unless the
    viewer is staff, InvalidInput without a reason of 1-200 characters, NotFound for what is not
    public, or not active or held.
    """
    _check_staff(viewer)
    words = checked_reason(reason)
    return holding.take_public(viewer, memory_id, reason=words, doer=doer, now=now)


def restore_public(
    viewer: Viewer, memory_id: UUID, *, reason: str, doer: Doer, now: datetime | None = None
) -> Memory:
    """Bring back what staff removed or declined, until it is erased; it counts at once.

    Active already: the memory. Remembered anew meanwhile: that one. Raises Forbidden, InvalidInput,
    NotFound, Expired.
    """
    _check_staff(viewer)
    words = checked_reason(reason)
    return holding.return_public(viewer, memory_id, reason=words, doer=doer, now=now)


def removed_public(viewer: Viewer) -> MemoryQuerySet:
    """Select what staff removed and can still bring back, latest first; nothing for others."""
    if not _is_staff(viewer):
        return Memory.objects.none()
    rows = Memory.objects.visible_to(viewer).filter(visibility=Visibility.PUBLIC).unpurged()
    # That it is archived says its reason already, but not to the index.
    removed = rows.filter(
        archived_at__isnull=False,
        archive_reason=ArchiveReason.ADMIN_REMOVED,
        superseded_at__isnull=True,
    )
    return removed.order_by("-archived_at", "id")


def removals_of(viewer: Viewer, ids: Iterable[UUID]) -> dict[UUID, AuditEntry]:
    """Return who removed each of these memories last, when and why; for staff alone."""
    if not _is_staff(viewer):
        return {}
    rows = AuditEntry.objects.filter(action="removed_public", memory_id__in=list(ids))
    found = rows.select_related("actor").order_by("created_at", "id")
    return {one.memory_id: one for one in found if one.memory_id is not None}


def reports_of(viewer: Viewer, ids: Iterable[UUID]) -> dict[UUID, tuple[MemoryReport, ...]]:
    """Return the open reports of these memories, oldest first; their words are for staff alone."""
    if not _is_staff(viewer):
        return {}
    found: dict[UUID, list[MemoryReport]] = defaultdict(list)
    rows = MemoryReport.objects.filter(memory__in=list(ids), resolved_at__isnull=True)
    for report in rows.order_by("created_at", "id"):
        found[report.memory_id].append(report)
    return {memory_id: tuple(reports) for memory_id, reports in found.items()}


def _is_staff(viewer: Viewer) -> bool:
    """A host that acts for a staff member is no moderator: only they themselves are."""
    user = viewer.user
    return user is not None and user.is_staff and user.is_active and viewer.agent is None


def _check_staff(viewer: Viewer) -> None:
    if not _is_staff(viewer):
        raise Forbidden("Public memory is moderated by staff.")
