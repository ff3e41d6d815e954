"""What models cost: the feed of days, its splits, and what calls fail at.

Days are UTC, gap-free, and end today. Money is US dollars. No content and no owner ever appears.

The cost of a period is what its events cost plus the calls that no event owns, and both are added
up from the calls: an event with one call of unknown price has no cost of its own that is known, but
what its other calls cost was paid. An owned call counts on the day of its event. Every split is a
sum of the same lines, so that it adds up to the same total.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, F, Max, Q, Sum

from junior_memory import clock, turnover
from junior_memory.day_windows import WINDOWS, days_until, end_of, since_of, start_of
from junior_memory.event_rows import CAPTURES, IS_USEFUL, RECALLS, event_rows
from junior_memory.models import CallTally, ModelCall
from junior_memory.paid_calls import (
    NOTHING,
    PURPOSES,
    Calls,
    Which,
    owned,
    ownerless,
    purpose_of,
    reason_of,
)

ZERO = Decimal(0)
LATELY = timedelta(days=1)
NO_FAULT = ("ok", "form_refused", "open")
"""Answers, and what says nothing about a model: a call under way, or whose process was killed."""
MAX_FAILING = 50

WORK_MEM = "64MB"
"""What PostgreSQL may use to add up a window: 200,000 calls with their events fit."""

OTHER = "other"
MAX_PARTS = 4
"""Parts that a split names by themselves, dearest first; the rest is one."""

SPLITS = ("operation", "model")
"""How the cost of a day may be split, besides its purpose."""


@dataclass(frozen=True, slots=True)
class Paid:
    """Calls of one day that agree in purpose, operation, model and outcome, as one line."""

    date: date
    purpose: str
    operation: str
    model: str
    outcome: str
    cost_usd: Decimal
    calls: int
    unknown: int

    @property
    def reason(self) -> str:
        """Why the calls of a line bought nothing, or how they came out."""
        return reason_of(self.purpose, self.outcome)


@dataclass(frozen=True, slots=True)
class CostDay:
    """One day of the cost feed, split by what the money was for."""

    date: date
    extraction_usd: Decimal = ZERO
    recall_usd: Decimal = ZERO
    review_usd: Decimal = ZERO
    upkeep_usd: Decimal = ZERO
    nothing_usd: Decimal = ZERO

    @property
    def total_usd(self) -> Decimal:
        """The whole day."""
        events_usd = self.extraction_usd + self.recall_usd + self.review_usd
        return events_usd + self.upkeep_usd + self.nothing_usd


@dataclass(frozen=True, slots=True)
class Share:
    """One operation's, model's or reason's part of the cost; `unknown` counts unpriced calls."""

    name: str
    cost_usd: Decimal
    calls: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Costs:
    """What learning and recall cost in a window of days, and what it was good for."""

    window: int
    days: tuple[CostDay, ...]
    lines: tuple[Paid, ...]
    previous_usd: Decimal
    by_operation: tuple[Share, ...]
    by_model: tuple[Share, ...]
    nothing: tuple[Share, ...]
    captures: int
    captured: int
    recalls: int
    useful_recalls: int
    calls: int
    unknown: int
    generated_at: datetime

    @property
    def total_usd(self) -> Decimal:
        """Everything in the window whose price is known."""
        return sum((day.total_usd for day in self.days), ZERO)

    @property
    def extraction_usd(self) -> Decimal:
        """What `memories_captured` events cost."""
        return sum((day.extraction_usd for day in self.days), ZERO)

    @property
    def recall_usd(self) -> Decimal:
        """What `memories_recalled` events cost."""
        return sum((day.recall_usd for day in self.days), ZERO)

    @property
    def review_usd(self) -> Decimal:
        """What `memory_reviewed` events cost."""
        return sum((day.review_usd for day in self.days), ZERO)

    @property
    def upkeep_usd(self) -> Decimal:
        """What calls cost that no event owns and that were of use."""
        return sum((day.upkeep_usd for day in self.days), ZERO)

    @property
    def nothing_usd(self) -> Decimal:
        """What calls cost that bought nothing."""
        return sum((day.nothing_usd for day in self.days), ZERO)

    @property
    def per_useful_recall_usd(self) -> Decimal | None:
        """Recall's cost over the recalls that put something into a prompt; None without any."""
        return self.recall_usd / self.useful_recalls if self.useful_recalls else None


def costs(days: int, *, now: datetime | None = None) -> Costs:
    """Return the cost feed of the last 7, 30 or 90 days. A fixed number of queries."""
    if days not in WINDOWS:
        raise ValueError(f"days must be one of {WINDOWS}")
    moment = now or clock.now()
    since = since_of(moment, days)
    lines = paid(Which(since=since, until=moment))
    recalled = event_rows(RECALLS, since, moment).aggregate(
        recalls=Count("id"), useful=Count("id", filter=IS_USEFUL)
    )
    return Costs(
        window=days,
        days=_by_day(lines, days_until(moment, days)),
        lines=lines,
        previous_usd=total_of(window_before(moment, days)).cost_usd,
        by_operation=shares(lines, lambda line: line.operation),
        by_model=shares(lines, lambda line: line.model),
        nothing=shares(
            [line for line in lines if line.purpose == NOTHING], lambda line: line.reason
        ),
        captures=event_rows(CAPTURES, since, moment).count(),
        captured=turnover.rows_of(turnover.CAPTURED, since, moment).count(),
        recalls=recalled["recalls"],
        useful_recalls=recalled["useful"],
        calls=sum(line.calls for line in lines),
        unknown=sum(line.unknown for line in lines),
        generated_at=moment,
    )


def paid(which: Which) -> tuple[Paid, ...]:
    """Add up every call that is meant once; lines by day, operation, model, outcome and purpose.

    By the sums that the database keeps of each day, where the stretch begins with one: what of the
    last day comes after its end is added up and taken away. Three queries at most.
    """
    first, last = which.since.astimezone(UTC).date(), which.until.astimezone(UTC).date()
    if which.since != start_of(first) or not which.is_of_lines:
        with _room():
            return _sorted([*_lines(owned(which)), *_lines(ownerless(which))])
    lines = _kept(first, last)
    if which.until < end_of(last):
        after = Which(since=which.until + timedelta(microseconds=1), until=end_of(last))
        lines = _without(lines, [*_lines(owned(after)), *_lines(ownerless(after))])
    return _sorted(
        line
        for line in lines
        if which.admits(
            purpose=line.purpose, operation=line.operation, model=line.model, outcome=line.outcome
        )
    )


def _kept(first: date, last: date) -> list[Paid]:
    """Read the sums of some days; those of several names of events may have one purpose."""
    names = ("day", "event", "operation", "model", "outcome", "is_loose")
    sums = {"cost": Sum("cost_usd"), "times": Sum("calls"), "unpriced": Sum("unknown")}
    rows = CallTally.objects.filter(day__gte=first, day__lte=last).values_list(*names)
    return _without(
        [
            Paid(
                date=day,
                purpose=purpose_of(event, operation, outcome, is_loose=is_loose),
                operation=operation,
                model=model,
                outcome=outcome,
                cost_usd=cost,
                calls=times,
                unknown=unpriced,
            )
            for day, event, operation, model, outcome, is_loose, cost, times, unpriced in (
                rows.annotate(**sums)
            )
        ],
        [],
    )


def _without(lines: Iterable[Paid], others: Iterable[Paid]) -> list[Paid]:
    """Add up lines of the same calls and take others away."""
    found: dict[tuple[Any, ...], Paid] = {}
    for sign, each in ((1, lines), (-1, others)):
        for line in each:
            had = found.get(_place(line))
            found[_place(line)] = replace(
                line,
                cost_usd=(had.cost_usd if had else ZERO) + sign * line.cost_usd,
                calls=(had.calls if had else 0) + sign * line.calls,
                unknown=(had.unknown if had else 0) + sign * line.unknown,
            )
    return [line for line in found.values() if line.calls]


def _place(line: Paid) -> tuple[Any, ...]:
    return line.date, line.operation, line.model, line.outcome, line.purpose


def _sorted(lines: Iterable[Paid]) -> tuple[Paid, ...]:
    """Order lines here: asked to, PostgreSQL sorts every call instead of the few sums."""
    return tuple(sorted(lines, key=_place))


@contextlib.contextmanager
def _room() -> Iterator[None]:
    """Let a sum over many calls be made in memory: on disk it takes twice as long."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('work_mem', %s, true)", [WORK_MEM])
        yield


@dataclass(frozen=True, slots=True)
class Total:
    """What some calls cost together; `unknown` counts those whose price is not known."""

    cost_usd: Decimal
    calls: int
    unknown: int


def total_of(which: Which) -> Total:
    """Add up every call that is meant, without a split."""
    return added_up(paid(which))


def any_calls() -> bool:
    """True when a model was ever called."""
    return ModelCall.objects.exists()


def window_before(now: datetime, days: int) -> Which:
    """Return the calls of as many days before a window: what it is compared with."""
    since = since_of(now, days)
    return Which(since=since - timedelta(days=days), until=since - timedelta(microseconds=1))


def _lines(calls: Calls) -> tuple[Paid, ...]:
    rows = calls.values("day", "purpose", "operation", "model", "outcome").annotate(
        cost=Sum("cost_usd"), times=Count("id"), unknown=Count("id", filter=Q(cost_usd=None))
    )
    return tuple(
        Paid(
            date=row["day"],
            purpose=row["purpose"],
            operation=row["operation"],
            model=row["model"],
            outcome=row["outcome"],
            cost_usd=row["cost"] or ZERO,
            calls=row["times"],
            unknown=row["unknown"],
        )
        for row in rows.order_by()
    )


def _by_day(lines: Iterable[Paid], days: Iterable[date]) -> tuple[CostDay, ...]:
    sums: dict[tuple[date, str], Decimal] = defaultdict(lambda: ZERO)
    for line in lines:
        sums[line.date, line.purpose] += line.cost_usd
    return tuple(
        CostDay(day, **{f"{purpose}_usd": sums[day, purpose] for purpose in PURPOSES})
        for day in days
    )


def added_up(lines: Iterable[Paid]) -> Total:
    """Add up lines: a list's sum, and a window's."""
    found = tuple(lines)
    return Total(
        cost_usd=sum((line.cost_usd for line in found), ZERO),
        calls=sum(line.calls for line in found),
        unknown=sum(line.unknown for line in found),
    )


def shares(lines: Iterable[Paid], name_of: Callable[[Paid], str]) -> tuple[Share, ...]:
    """Add up lines by a name, the dearest first."""
    found: dict[str, Share] = {}
    for line in lines:
        name = name_of(line)
        had = found.get(name, Share(name, ZERO, 0, 0))
        found[name] = Share(
            name,
            had.cost_usd + line.cost_usd,
            had.calls + line.calls,
            had.unknown + line.unknown,
        )
    return tuple(sorted(found.values(), key=lambda share: (-share.cost_usd, share.name)))


@dataclass(frozen=True, slots=True)
class FailingCalls:
    """Calls of one operation and model that came to nothing lately, for one reason."""

    operation: str
    model: str
    reason: str
    calls: int
    last_at: datetime


def failing_calls(*, now: datetime | None = None) -> tuple[FailingCalls, ...]:
    """Return what models failed at in the last day, the most frequent first."""
    moment = now or clock.now()
    rows = (
        ModelCall.objects.filter(created_at__gte=moment - LATELY, created_at__lte=moment)
        .exclude(outcome__in=NO_FAULT)
        .values("operation", "model", reason=F("outcome"))
        .annotate(calls=Count("id"), last_at=Max("created_at"))
        .order_by("-calls", "operation", "model", "reason")
    )
    return tuple(FailingCalls(**row) for row in rows[:MAX_FAILING])


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

    Raises ValueError for another split.
    """
    if split not in SPLITS:
        raise ValueError(f"split must be one of {SPLITS}")
    days = [day.date for day in spent.days]
    sums: dict[str, dict[date, Decimal]] = defaultdict(lambda: defaultdict(lambda: ZERO))
    for line in spent.lines:
        if line.purpose != NOTHING:
            name = line.operation if split == "operation" else line.model
            sums[name][line.date] += line.cost_usd
    parts = [Part(name, tuple(by[day] for day in days)) for name, by in sums.items()]
    parts.sort(key=lambda part: (-part.total_usd, part.name))
    if len(parts) > MAX_PARTS + 1:
        parts = [*parts[:MAX_PARTS], _together(parts[MAX_PARTS:])]
    return (*parts, Part(NOTHING, tuple(day.nothing_usd for day in spent.days)))


def _together(parts: list[Part]) -> Part:
    return Part(
        OTHER, tuple(sum(costs, ZERO) for costs in zip(*(p.by_day for p in parts), strict=True))
    )
