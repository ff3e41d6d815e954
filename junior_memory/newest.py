"""The newest of what a viewer may see, without reading the rest.

One statement over own, team and public rows together has no index in its order and sorts all of
them. Each part has one: the newest few of each are read, and the newest of these kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from junior_memory.access import Viewer
from junior_memory.filters import NO_FILTERS, Filters
from junior_memory.listed import read_listed
from junior_memory.models import Memory
from junior_memory.parts import Fragment, Part, fetch_all, parts_of
from junior_memory.querysets import MemoryQuerySet

WANTED = Fragment("id, created_at")


def read_newest(
    rows: MemoryQuerySet,
    viewer: Viewer,
    *,
    limit: int,
    filters: Filters = NO_FILTERS,
    after: tuple[datetime, UUID] | None = None,
    parts: Sequence[Part] | None = None,
) -> list[Memory]:
    """Return the first rows that a list shows of what `visible_to` admitted, as `for_list` reads.

    Newest first, then by id, after a row's moment and id when they are given. Two statements, and
    one for the parts of `rows` unless they are given.
    """
    rules = [filters.rule()] if filters != NO_FILTERS else []
    if after is not None:
        rules.append(_following(*after))
    tail = Fragment("ORDER BY created_at DESC, id LIMIT %s", (limit,))
    asked = []
    for part in parts if parts is not None else parts_of(rows, viewer):
        if filters.admits_part(part.name):
            narrowed = part.smaller(Fragment.join(" AND ", rules)) if rules else part
            asked.append(narrowed.each_team(WANTED, tail))
    found = sorted(fetch_all(asked), key=lambda row: (-row[1].timestamp(), row[0]))
    ids = [row[0] for row in found[:limit]]
    listed = read_listed(rows, ids)
    return [listed[memory_id] for memory_id in ids if memory_id in listed]


def _following(created_at: datetime, memory_id: UUID) -> Fragment:
    """As `MemoryQuerySet.after`: an index finds the place by the first bound."""
    sql = "created_at <= %s AND (created_at < %s OR id > %s)"
    return Fragment(sql, (created_at, created_at, memory_id))
