"""Memories that came and went in a stretch of time: counted by day, in sums, and as a list.

Each number counts the rows of one part of `PARTS`, and the list shows the same rows. No content and
no owner.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Literal
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import TruncDate

from junior_memory import clock
from junior_memory.day_windows import WINDOWS, days_until, since_of, start_of
from junior_memory.models import Memory, MemoryEmbedding, MemoryTally, Origin
from junior_memory.querysets import MemoryQuerySet
from junior_memory.records import After, Rows, stretch
from junior_memory.tallies import Came, created_between

Moment = Literal["created_at", "archived_at", "superseded_at"]

FORGOTTEN_REASONS = ("user_removed", "tool_removed")
REMOVED_REASONS = ("admin_removed", "declined")

PRIVATE = "private"
ORG = "org"
PUBLIC = "public"
CREATED = "created"
GONE = "gone"
ASKED = "asked"
IMPORTED = "imported"
CAPTURED = "captured"
REPLACED = "replaced"
FORGOTTEN = "forgotten"
EXPIRED = "expired"
KEPT_BACK = "kept_back"
REMOVED = "removed"

ALL = "all"
EMBEDDED = "embedded"
HELD = "held"
PRESENT = (ALL, PRIVATE, ORG, PUBLIC, EMBEDDED, HELD)
"""What there is now: active memories, by who sees them, with a vector; and what is held."""

VISIBILITIES = {
    PRIVATE: Q(visibility__in=["private", "session"]),
    ORG: Q(visibility="org"),
    PUBLIC: Q(visibility="public"),
}
"""By who sees them; session rows count as private."""

TIERS = {"session": PRIVATE, "private": PRIVATE, "org": ORG, "public": PUBLIC}
"""By which of these a memory is counted."""

PARTS: dict[str, tuple[Moment, Q]] = {
    CREATED: ("created_at", Q()),
    **{name: ("created_at", seen) for name, seen in VISIBILITIES.items()},
    ASKED: ("created_at", Q(origin=Origin.EXPLICIT)),
    IMPORTED: ("created_at", Q(origin=Origin.IMPORT)),
    CAPTURED: ("created_at", Q(session__isnull=False, held_at__isnull=True)),
    KEPT_BACK: ("created_at", Q(origin=Origin.AUTOMATIC, held_at__isnull=False)),
    REPLACED: ("superseded_at", Q()),
    GONE: ("archived_at", Q(superseded_at__isnull=True) & ~Q(archive_reason="expired")),
    FORGOTTEN: (
        "archived_at",
        Q(superseded_at__isnull=True, archive_reason__in=FORGOTTEN_REASONS),
    ),
    REMOVED: (
        "archived_at",
        Q(superseded_at__isnull=True, archive_reason__in=REMOVED_REASONS),
    ),
    EXPIRED: ("archived_at", Q(archive_reason="expired")),
}
"""What a number counts: by which moment, and which rows. `gone` is all but what expired."""


def _within(moment: Moment, since: datetime, until: datetime) -> Q:
    return Q(**{f"{moment}__gte": since, f"{moment}__lte": until})


def rows_of(part: str, since: datetime, until: datetime) -> QuerySet[Memory, Memory]:
    """Return the memories that a part counts in a stretch; both ends count."""
    moment, which = PARTS[part]
    return Memory.objects.filter(_within(moment, since, until)).filter(which)


def count_of(part: str, since: datetime, until: datetime) -> int:
    """Count the memories of a part: what came by the numbers of its days, where it says no more."""
    said = _SAID.get(part)
    if said is None or since != start_of(since.astimezone(UTC).date()):
        return rows_of(part, since, until).count()
    came = created_between(MemoryTally.objects.all(), Memory.objects.all(), since, until)
    return sum(said(one) for one in came)


_SAID: dict[str, Callable[[Came], int]] = {
    CREATED: lambda one: one.rows,
    PRIVATE: lambda one: one.rows if TIERS[one.visibility] == PRIVATE else 0,
    ORG: lambda one: one.rows if one.visibility == ORG else 0,
    PUBLIC: lambda one: one.rows if one.visibility == PUBLIC else 0,
    ASKED: lambda one: one.rows if one.origin == Origin.EXPLICIT else 0,
    IMPORTED: lambda one: one.rows if one.origin == Origin.IMPORT else 0,
    KEPT_BACK: lambda one: one.held if one.origin == Origin.AUTOMATIC else 0,
}
"""How many of what came on a day a part counts (`PARTS`)."""


@dataclass(frozen=True, slots=True)
class CountDay:
    """Memories created on one day, by visibility; session rows count as private."""

    date: date
    private: int
    org: int
    public: int
    forgotten: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.private + self.org + self.public


def by_day(
    came: Iterable[Came], gone: QuerySet[Memory, Any], now: datetime, days: int
) -> list[CountDay]:
    """Add up what was created and went on each of the last `days` UTC days.

    `gone` are rows of which those count that went in these days.
    """
    moment, is_gone = PARTS[GONE]
    left = (
        gone.filter(_within(moment, since_of(now, days), now))
        .filter(is_gone)
        .annotate(day=TruncDate(moment, tzinfo=UTC))
        .values("day")
        .annotate(times=Count("id"))
    )
    forgotten = {row["day"]: row["times"] for row in left}
    created: dict[date, Counter[str]] = defaultdict(Counter)
    for one in came:
        created[one.day][TIERS[one.visibility]] += one.rows
    return [
        CountDay(
            date=day,
            private=created[day][PRIVATE],
            org=created[day][ORG],
            public=created[day][PUBLIC],
            forgotten=forgotten.get(day, 0),
        )
        for day in days_until(now, days)
    ]


def deployment_by_day(days: int, *, now: datetime | None = None) -> list[CountDay]:
    """Count what everybody's memories came to on each day of a window. Three queries."""
    moment = now or clock.now()
    return by_day(_came(days, moment), Memory.objects.all(), moment, days)


def _came(days: int, now: datetime) -> list[Came]:
    every = Memory.objects.all()
    return created_between(MemoryTally.objects.all(), every, since_of(now, days), now)


@dataclass(frozen=True, slots=True)
class Learned:
    """What came and went in a window, in memories."""

    asked: int
    imported: int
    replaced: int
    forgotten: int
    expired: int
    kept_back: int = 0
    removed: int = 0


def learned(days: int, *, now: datetime | None = None) -> Learned:
    """Count what was asked for, imported, replaced and let go in a window. Four queries."""
    if days not in WINDOWS:
        raise ValueError(f"days must be one of {WINDOWS}")
    until = now or clock.now()
    since = since_of(until, days)
    came = _came(days, until)
    archived = Memory.objects.filter(_within("archived_at", since, until)).aggregate(
        **{part: Count("id", filter=PARTS[part][1]) for part in (FORGOTTEN, REMOVED, EXPIRED)}
    )
    return Learned(
        asked=sum(map(_SAID[ASKED], came)),
        imported=sum(map(_SAID[IMPORTED], came)),
        kept_back=sum(map(_SAID[KEPT_BACK], came)),
        replaced=rows_of(REPLACED, since, until).count(),
        forgotten=archived[FORGOTTEN],
        removed=archived[REMOVED],
        expired=archived[EXPIRED],
    )


@dataclass(frozen=True, slots=True)
class Change:
    """One memory as the list of what came or went shows it: never its content or owner."""

    id: UUID
    at: datetime
    kind: str
    visibility: str
    origin: str
    agent: str
    archive_reason: str


def list_changes(
    part: str,
    since: datetime,
    until: datetime,
    *,
    limit: int = 50,
    after: After | None = None,
) -> Rows[Change]:
    """Return some of the memories that a part counts, newest first. One query."""
    moment, _ = PARTS[part]
    return _listed(rows_of(part, since, until), moment, limit=limit, after=after)


def list_present(
    part: str, now: datetime, *, limit: int = 50, after: After | None = None
) -> Rows[Change]:
    """Return some of the memories that there are now, newest first. One query."""
    return _listed(present_rows(part, now), "created_at", limit=limit, after=after)


def present_rows(part: str, now: datetime) -> QuerySet[Memory, Memory]:
    """Return what a part of `PRESENT` counts: what is active, or what is held."""
    if part == HELD:
        return Memory.objects.held()
    rows: MemoryQuerySet = Memory.objects.active(now)
    if part == EMBEDDED:
        in_use = MemoryEmbedding.objects.filter(embedding_model__state="in_use")
        return rows.filter(pk__in=in_use.values("memory"))
    return rows if part == ALL else rows.filter(VISIBILITIES[part])


def _listed(
    rows: QuerySet[Memory, Memory], moment: Moment, *, limit: int, after: After | None
) -> Rows[Change]:
    shown = rows.select_related("agent").only(
        moment, "kind", "visibility", "origin", "archive_reason", "agent__name"
    )
    found, last = stretch(shown, moment, limit=limit, after=after)
    return Rows(
        tuple(
            Change(
                id=row.pk,
                at=getattr(row, moment),
                kind=row.kind,
                visibility=row.visibility,
                origin=row.origin,
                agent=row.agent.name,
                archive_reason=row.archive_reason,
            )
            for row in found
        ),
        last,
    )
