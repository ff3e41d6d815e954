"""The newest of what a viewer may see, without reading the rest.

One statement over own, team and public rows together has no index in its order and sorts all of
them. Each part has one: the newest few of each are read, and the newest of these kept.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from junior_memory.access import Viewer
from junior_memory.filters import NO_FILTERS, Filters
from junior_memory.models import Memory
from junior_memory.parts import PRESENT, Fragment, Part, fetch_all, parts_of
from junior_memory.querysets import MemoryQuerySet

WANTED = Fragment("id, created_at")


def read_newest(
    rows: MemoryQuerySet,
    viewer: Viewer,
    *,
    limit: int,
    filters: Filters = NO_FILTERS,
    after: tuple[datetime, UUID] | None = None,
) -> list[Memory]:
    """Return the first rows that a list shows of what `visible_to` admitted, as `for_list` reads.

    Newest first, then by id, after a row's moment and id when they are given. Two statements.
    """
    narrowed = filters.narrow(rows)
    if after is not None:
        narrowed = narrowed.after(*after)
    asked = [
        _newest_of(part, viewer, limit=limit)
        for part in parts_of(narrowed, viewer)
        if filters.admits_part(part.name)
    ]
    found = sorted(fetch_all(asked), key=lambda row: (-row[1].timestamp(), row[0]))
    ids = [row[0] for row in found[:limit]]
    return list(rows.filter(pk__in=ids).newest_first().for_list()) if ids else []


def _newest_of(part: Part, viewer: Viewer, *, limit: int) -> Fragment:
    """Select the newest of one part, in the order of its index."""
    tail = Fragment("ORDER BY created_at DESC, id LIMIT %s", (limit,))
    if part.name != "org" or viewer.user is None:
        return part.select(WANTED, tail)
    # The index holds each team's rows in order, and not those of several teams.
    one = replace(part, within=Fragment("visibility = 'org' AND org_id = present.organization_id"))
    each = one.select(WANTED, tail)
    sql = f"SELECT newest.* FROM ({PRESENT}) AS present, LATERAL ({each.sql}) AS newest"  # noqa: S608
    return Fragment(sql, (viewer.user.pk, *each.values))
