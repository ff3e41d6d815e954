"""How many memories and vectors there are, without looking at them.

By the numbers that the database keeps (`models.tallies`). They do not know the clock: what is past
its date and not archived yet is counted apart, which the periodic job keeps little.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import TruncDate

from junior_memory.day_windows import end_of
from junior_memory.models import Memory, MemoryEmbedding, MemoryTally, VectorTally
from junior_memory.querysets import MemoryQuerySet


class Sort(NamedTuple):
    """What memories are counted by."""

    visibility: str
    kind: str
    origin: str


SORT = Sort._fields


def active_by_sort(
    tallies: QuerySet[MemoryTally, Any], rows: MemoryQuerySet, now: datetime
) -> Counter[Sort]:
    """Count active memories; `rows` are all that the tallies count, in any state."""
    summed = tallies.values_list(*SORT).annotate(count=Sum("active"))
    found = Counter({Sort(*sort): count for *sort, count in summed})
    found.subtract(
        {
            Sort(*sort): count
            for *sort, count in _late(rows, now).values_list(*SORT).annotate(count=Count("id"))
        }
    )
    return found


def _late(rows: MemoryQuerySet, now: datetime) -> MemoryQuerySet:
    """Select what is past its date and not archived yet, found by `memory_expiring`."""
    return rows.filter(
        expires_at__lte=now,
        expires_at__isnull=False,
        held_at__isnull=True,
        archived_at__isnull=True,
        superseded_at__isnull=True,
    )


def count_embedded(
    tallies: QuerySet[VectorTally, Any], rows: MemoryQuerySet, model_id: int, now: datetime
) -> int:
    """Count active memories with a vector of a model; `rows` are all that the tallies count."""
    counted = tallies.filter(model_id=model_id).aggregate(count=Sum("rows"))["count"] or 0
    late = MemoryEmbedding.objects.filter(embedding_model=model_id, memory__in=_late(rows, now))
    return int(counted) - late.count()


@dataclass(frozen=True, slots=True)
class Came:
    """How many memories were created on a day, by visibility, origin and whether ever held."""

    day: date
    visibility: str
    origin: str
    rows: int
    kept: int
    held: int


def created_between(
    tallies: QuerySet[MemoryTally, Any], rows: MemoryQuerySet, since: datetime, until: datetime
) -> list[Came]:
    """Count what was created from the beginning of a UTC day until a moment.

    Of the last day what came later is counted apart, found by `memory_created`.
    """
    first, last = since.astimezone(UTC).date(), until.astimezone(UTC).date()
    of_days = tallies.filter(day__gte=first, day__lte=last)
    names = ("day", "visibility", "origin")
    sums = of_days.values_list(*names).annotate(
        all=Sum("rows"), unerased=Sum("kept"), h=Sum("held")
    )
    found = [Came(*row) for row in sums]
    later = rows.filter(created_at__gt=until, created_at__lte=end_of(last))
    counts = later.values_list("visibility", "origin").annotate(
        all=Count("id"),
        unerased=Count("id", filter=Q(purged_at__isnull=True)),
        h=Count("id", filter=Q(held_at__isnull=False)),
    )
    found += [Came(last, seen, origin, -a, -k, -h) for seen, origin, a, k, h in counts]
    return found


def active_between(
    tallies: QuerySet[MemoryTally, Any], rows: MemoryQuerySet, since: datetime, until: datetime
) -> list[Came]:
    """As `created_between`, of what is active alone: of what others hold back not even a number."""
    first, last = since.astimezone(UTC).date(), until.astimezone(UTC).date()
    of_days = tallies.filter(day__gte=first, day__lte=last)
    sums = of_days.values_list("day", "visibility", "origin").annotate(count=Sum("active"))
    found = [Came(day, seen, origin, count, count, 0) for day, seen, origin, count in sums]
    later = rows.active(until).filter(created_at__gt=until)
    taken = created_among(_late(rows, until), since, until)
    taken += created_among(later, until, end_of(last))
    found += [replace(one, rows=-one.rows, kept=-one.kept) for one in taken]
    return found


def created_among(rows: MemoryQuerySet, since: datetime, until: datetime) -> list[Came]:
    """Count the same of a person's own rows, which no tally tells from others'."""
    days = rows.filter(created_at__gte=since, created_at__lte=until).annotate(
        on=TruncDate("created_at", tzinfo=UTC)
    )
    counts = days.values_list("on", "visibility", "origin").annotate(
        all=Count("id"),
        unerased=Count("id", filter=Q(purged_at__isnull=True)),
        h=Count("id", filter=Q(held_at__isnull=False)),
    )
    return [Came(*row) for row in counts]


def active_total(now: datetime) -> int:
    """Count all active memories there are."""
    return active_by_sort(MemoryTally.objects.all(), Memory.objects.all(), now).total()


def coverage(model_id: int, now: datetime) -> tuple[int, int]:
    """Return how many active memories have a vector of a model, and how many there are."""
    every = Memory.objects.all()
    done = count_embedded(VectorTally.objects.all(), every, model_id, now)
    return done, active_total(now)


class _Kept(NamedTuple):
    """One table of numbers: its columns, and the statement that says what they should be."""

    table: str
    by: tuple[str, ...]
    sums: tuple[str, ...]
    should_be: str

    @property
    def anew(self) -> str:
        """The statement that writes the numbers of what is there."""
        columns = ", ".join(f'"{name}"' for name in (*self.by, *self.sums))
        return f"INSERT INTO {self.table} ({columns}) {self.should_be}"

    @property
    def wrong(self) -> str:
        """The statement that counts the sorts whose number is another one."""
        by = ", ".join(f'"{name}"' for name in self.by)
        sums = ", ".join(f'sum("{name}")' for name in self.sums)
        some = " OR ".join(f'sum("{name}") <> 0' for name in self.sums)
        kept = f"SELECT {by}, {sums} FROM {self.table} GROUP BY {by} HAVING {some}"  # noqa: S608
        return f"""
            WITH kept AS MATERIALIZED ({kept}), there AS MATERIALIZED ({self.should_be}),
            wrong AS (
                (SELECT * FROM kept EXCEPT ALL SELECT * FROM there)
                UNION ALL (SELECT * FROM there EXCEPT ALL SELECT * FROM kept)
            )
            SELECT count(*) FROM (SELECT DISTINCT {by} FROM wrong) AS sorts
        """  # noqa: S608


_KEPT = (
    _Kept(
        "junior_memory_memorytally",
        ("day", "visibility", "kind", "origin", "org_id"),
        ("rows", "kept", "held", "active"),
        """
        SELECT (created_at AT TIME ZONE 'UTC')::date AS day, visibility, kind, origin, org_id,
            count(*), count(*) FILTER (WHERE purged_at IS NULL),
            count(*) FILTER (WHERE held_at IS NOT NULL),
            count(*) FILTER (
                WHERE held_at IS NULL AND archived_at IS NULL AND superseded_at IS NULL
            )
        FROM junior_memory_memory GROUP BY 1, 2, 3, 4, 5
        """,
    ),
    _Kept(
        "junior_memory_vectortally",
        ("model_id", "visibility", "org_id"),
        ("rows",),
        """
        SELECT embedding_model_id AS model_id, visibility, org_id, count(*)
        FROM junior_memory_memoryembedding GROUP BY 1, 2, 3
        """,
    ),
    _Kept(
        "junior_memory_calltally",
        ("day", "event", "operation", "model", "outcome", "is_loose"),
        ("calls", "unknown", "cost_usd"),
        """
        SELECT (coalesce(event.created_at, call.created_at) AT TIME ZONE 'UTC')::date AS day,
            coalesce(event.name, '') AS event, call.operation, call.model, call.outcome,
            call.recall_id IS NULL AND call.session_id IS NULL AND call.tool_call_key = ''
                AS is_loose,
            count(*), count(*) FILTER (WHERE call.cost_usd IS NULL),
            coalesce(sum(call.cost_usd), 0)
        FROM junior_memory_modelcall AS call
        LEFT JOIN junior_memory_conversationevent AS event ON event.id = call.event_id
        GROUP BY 1, 2, 3, 4, 5, 6
        """,
    ),
)


def count_wrong() -> int:
    """Count the sorts of memories, vectors and calls whose kept number is not what is there.

    Each table is compared in one statement, so that writers change nothing; it reads every row.
    """
    with connection.cursor() as cursor:
        found = 0
        for kept in _KEPT:
            cursor.execute(kept.wrong)
            found += cursor.fetchone()[0]
    return found


def recount() -> None:
    """Count everything anew: after rows were written past the triggers, as a bulk load does.

    Nobody may write meanwhile, so the tables are locked until it is done.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "LOCK TABLE junior_memory_memory, junior_memory_memoryembedding,"
            " junior_memory_modelcall, junior_memory_conversationevent IN SHARE ROW EXCLUSIVE MODE"
        )
        for kept in _KEPT:
            cursor.execute(f"DELETE FROM {kept.table}")  # noqa: S608
            cursor.execute(kept.anew)
