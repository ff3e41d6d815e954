"""What the money of a window went to, day by day, and what learning came to in it.

A finer cut of `reports.costs`, over the same rows: an owned call counts on the day of its event,
and only where the event's price is known, so that every split of a window adds up to one total.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, F, Q, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from junior_memory.conf import conf
from junior_memory.models import Memory, ModelCall, Origin
from junior_memory.reports import WINDOWS, ZERO, CostDay, Costs, days_until

NOTHING = "nothing"
"""The part of every split that no event owns: failed, cut off, retried or empty calls."""

OTHER = "other"
MAX_PARTS = 4
"""Parts that a split names by themselves, dearest first; the rest is one."""

SPLITS = ("operation", "model")
"""Columns of ModelCall by which the cost of a day may be split, besides its purpose."""

FORGOTTEN_REASONS = ("user_removed", "tool_removed")


@dataclass(frozen=True, slots=True)
class Part:
    """One operation's or model's cost on every day of a window, in US dollars, oldest first."""

    name: str
    by_day: tuple[Decimal, ...]

    @property
    def total_usd(self) -> Decimal:
        """The whole window."""
        return sum(self.by_day, ZERO)


def split_by_day(spent: Costs, split: str) -> tuple[Part, ...]:
    """Split the cost of a window by `operation` or `model`; what bought nothing comes last.

    A fixed number of queries. Raises ValueError for another split.
    """
    if split not in SPLITS:
        raise ValueError(f"split must be one of {SPLITS}")
    days = [day.date for day in spent.days]
    costs: dict[str, dict[date, Decimal]] = defaultdict(lambda: defaultdict(lambda: ZERO))
    for row in _owned(days[0], spent.generated_at, split):
        costs[row["part"]][row["day"]] += row["cost"] or ZERO
    parts = [Part(name, tuple(by[day] for day in days)) for name, by in costs.items()]
    parts.sort(key=lambda part: (-part.total_usd, part.name))
    if len(parts) > MAX_PARTS + 1:
        parts = [*parts[:MAX_PARTS], _together(parts[MAX_PARTS:])]
    return (*parts, Part(NOTHING, tuple(day.nothing_usd for day in spent.days)))


def _owned(first: date, until: datetime, split: str) -> Any:
    since = datetime(first.year, first.month, first.day, tzinfo=UTC)
    calls = ModelCall.objects.filter(
        event__created_at__gte=since, event__created_at__lte=until, event__cost_usd__isnull=False
    )
    return (
        calls.annotate(day=TruncDate("event__created_at", tzinfo=UTC), part=F(split))
        .values("day", "part")
        .annotate(cost=Sum("cost_usd"))
        .order_by("day", "part")
    )


def _together(parts: list[Part]) -> Part:
    return Part(
        OTHER, tuple(sum(costs, ZERO) for costs in zip(*(p.by_day for p in parts), strict=True))
    )


@dataclass(frozen=True, slots=True)
class Learned:
    """What came and went in a window, in memories."""

    asked: int
    imported: int
    replaced: int
    forgotten: int
    expired: int


def learned(days: int, *, now: datetime | None = None) -> Learned:
    """Count what was asked for, imported, replaced and let go in a window. Two queries."""
    if days not in WINDOWS:
        raise ValueError(f"days must be one of {WINDOWS}")
    moment = now or timezone.now()
    first = days_until(moment, days)[0]
    since = datetime(first.year, first.month, first.day, tzinfo=UTC)
    rows = Memory.objects.all()
    came = rows.filter(created_at__gte=since, created_at__lte=moment).aggregate(
        asked=Count("id", filter=Q(origin=Origin.EXPLICIT)),
        imported=Count("id", filter=Q(origin=Origin.IMPORT)),
    )
    went = rows.filter(Q(superseded_at__gte=since) | Q(archived_at__gte=since)).aggregate(
        replaced=Count("id", filter=Q(superseded_at__gte=since)),
        forgotten=Count(
            "id",
            filter=Q(
                archived_at__gte=since,
                superseded_at__isnull=True,
                archive_reason__in=FORGOTTEN_REASONS,
            ),
        ),
        expired=Count("id", filter=Q(archived_at__gte=since, archive_reason="expired")),
    )
    return Learned(**came, **went)


@dataclass(frozen=True, slots=True)
class Budget:
    """One limit of money, and how much of it is spent."""

    name: str
    spent_usd: Decimal
    limit_usd: Decimal
    reached_on: date | None
    """The day on which it is reached at the present pace, within its month; None when it is not."""

    @property
    def is_reached(self) -> bool:
        """True when nothing is left."""
        return self.spent_usd >= self.limit_usd


def budgets(days: tuple[CostDay, ...]) -> tuple[Budget, ...]:
    """Return the configured budgets against the days of a report; those end today, oldest first.

    The days must reach back to the first of the month. Without budgets the answer is empty.
    """
    today = days[-1]
    found = []
    if (daily := conf().daily_budget_usd) is not None:
        found.append(Budget("day", today.total_usd, daily, None))
    if (monthly := conf().monthly_budget_usd) is not None:
        month = [day for day in days if (day.date.year, day.date.month) == _month(today.date)]
        spent = sum((day.total_usd for day in month), ZERO)
        found.append(Budget("month", spent, monthly, _reached_on(spent, monthly, today.date)))
    return tuple(found)


def _month(day: date) -> tuple[int, int]:
    return day.year, day.month


def _reached_on(spent: Decimal, limit: Decimal, today: date) -> date | None:
    """Carry the month's average day forward; None past the end of the month."""
    if spent <= 0 or spent >= limit:
        return None
    left = int((limit - spent) / (spent / today.day))
    day = today + timedelta(days=min(left, 31))
    return day if _month(day) == _month(today) else None
