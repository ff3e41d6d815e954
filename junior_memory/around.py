"""What a list shows of memories besides their own columns, in one statement.

How often each was used, what it replaced in the viewer's own words of then, and whether it is the
viewer's to change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from junior_memory.access import Viewer
from junior_memory.compiled import compiled
from junior_memory.models import Memory
from junior_memory.parts import Fragment, among, fetch_all

USED, REPLACED, OWN = "used", "replaced", "own"


@dataclass(frozen=True, slots=True)
class Around:
    """By the ids of memories; what is missing was never used, replaced nothing, is another's."""

    uses: dict[UUID, int] = field(default_factory=dict)
    replaced: dict[UUID, str] = field(default_factory=dict)
    own: set[UUID] = field(default_factory=set)


def read_around(viewer: Viewer, ids: Sequence[UUID], *, now: datetime) -> Around:
    """Return what stands around these memories, which the viewer sees."""
    if not ids:
        return Around()
    these = list(ids)
    uses = (
        f"SELECT '{USED}' AS about, memory_id, '' AS content, count(*), NULL::timestamptz AS at,"  # noqa: S608
        " NULL::uuid AS earlier FROM junior_memory_memoryuse WHERE memory_id = ANY(%s) GROUP BY 2"
    )
    statements = [Fragment(uses, (these,))]
    if own := compiled(_own, viewer, now):
        mine = among(these)
        sql = f"SELECT '{OWN}', id, '', 0, NULL, NULL FROM ({own.sql}) AS own WHERE {mine.sql}"  # noqa: S608
        statements.append(Fragment(sql, (*own.values, *mine.values)))
    if earlier := compiled(_earlier, viewer, now):
        sql = (
            f"SELECT '{REPLACED}', superseded_by_id, content, 0, superseded_at, id"  # noqa: S608
            f" FROM ({earlier.sql}) AS earlier WHERE superseded_by_id = ANY(%s)"
        )
        statements.append(Fragment(sql, (*earlier.values, these)))
    around = Around()
    older: list[tuple[datetime, UUID, UUID, str]] = []
    for about, memory_id, content, count, at, earlier_id in fetch_all(statements):
        match about:
            case "used":
                around.uses[memory_id] = count
            case "own":
                around.own.add(memory_id)
            case _other:
                older.append((at, earlier_id, memory_id, content))
    around.replaced.update({successor: content for _, _, successor, content in sorted(older)})
    return around


def _own(viewer: Viewer, _now: datetime) -> QuerySet[Any, Any]:
    rows: QuerySet[Any, Any] = Memory.objects.own(viewer)
    return rows.order_by().values("id")


def _earlier(viewer: Viewer, _now: datetime) -> QuerySet[Any, Any]:
    """Say which rows were replaced and are not erased: the last one of each stands for all."""
    rows: QuerySet[Any, Any] = Memory.objects.own(viewer).superseded().unpurged()
    return rows.order_by().values("id", "superseded_by_id", "superseded_at", "content")
