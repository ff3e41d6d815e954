"""Aggregates for the overview, the operational report and a person's own statistics.

Days are UTC, gap-free, and end today. Money is US dollars. No content and no owner ever appears.
The cost of a period is what its events cost plus the calls that no event owns ("bought nothing").
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, F, Min, Q, QuerySet, Sum
from django.db.models.functions import TruncDate

from junior_memory import clock, events
from junior_memory.access import Viewer
from junior_memory.models import (
    CompletedSession,
    ConversationEvent,
    Memory,
    MemoryEmbedding,
    ModelCall,
    SessionState,
)

WINDOWS = (7, 30, 90)
"""Days that a chart may show (CONFORMANCE 1.6)."""
SERIES_DAYS = 90
ZERO = Decimal(0)
MAX_FAILURES = 50


def days_until(now: datetime, days: int) -> list[date]:
    """Return the last `days` UTC days, oldest first, today last."""
    today = now.astimezone(UTC).date()
    return [today - timedelta(days=back) for back in range(days - 1, -1, -1)]


def _since(now: datetime, days: int) -> datetime:
    first = days_until(now, days)[0]
    return datetime(first.year, first.month, first.day, tzinfo=UTC)


# What it cost.


@dataclass(frozen=True, slots=True)
class CostDay:
    """One day of the cost feed, split by what the money was for."""

    date: date
    extraction_usd: Decimal
    recall_usd: Decimal
    nothing_usd: Decimal

    @property
    def total_usd(self) -> Decimal:
        """The whole day."""
        return self.extraction_usd + self.recall_usd + self.nothing_usd


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
    def nothing_usd(self) -> Decimal:
        """What calls cost that no event owns."""
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
    since = _since(moment, days)
    found = ConversationEvent.objects.filter(created_at__gte=since, created_at__lte=moment)
    calls = ModelCall.objects.filter(created_at__gte=since, created_at__lte=moment)
    ownerless = calls.filter(event__isnull=True)
    extraction = _by_day(found.filter(name=events.MEMORIES_CAPTURED))
    recall = _by_day(found.filter(name=events.MEMORIES_RECALLED))
    nothing = _by_day(ownerless)
    recalled = found.filter(name=events.MEMORIES_RECALLED).aggregate(
        recalls=Count("id"), useful=Count("id", filter=~Q(payload__memories=[]))
    )
    totals = calls.aggregate(calls=Count("id"), unknown=Count("id", filter=Q(cost_usd=None)))
    return Costs(
        window=days,
        days=tuple(
            CostDay(day, extraction.get(day, ZERO), recall.get(day, ZERO), nothing.get(day, ZERO))
            for day in days_until(moment, days)
        ),
        previous_usd=_spent(since - timedelta(days=days), since),
        by_operation=_shares(calls, "operation"),
        by_model=_shares(calls, "model"),
        nothing=_shares(ownerless, "outcome"),
        captures=found.filter(name=events.MEMORIES_CAPTURED).count(),
        captured=_captured_since(since, moment),
        recalls=recalled["recalls"],
        useful_recalls=recalled["useful"],
        calls=totals["calls"],
        unknown=totals["unknown"],
        generated_at=moment,
    )


def _by_day(rows: QuerySet[Any, Any]) -> dict[date, Decimal]:
    days = (
        rows.annotate(day=TruncDate("created_at", tzinfo=UTC))
        .values("day")
        .annotate(cost=Sum("cost_usd"))
    )
    return {row["day"]: row["cost"] or ZERO for row in days}


def _shares(rows: QuerySet[ModelCall, ModelCall], field_name: str) -> tuple[Share, ...]:
    groups = (
        rows.values(name=F(field_name))
        .annotate(
            cost=Sum("cost_usd"), times=Count("id"), unknown=Count("id", filter=Q(cost_usd=None))
        )
        .order_by(F("cost").desc(nulls_last=True), "name")
    )
    return tuple(
        Share(row["name"], row["cost"] or ZERO, row["times"], row["unknown"]) for row in groups
    )


def _spent(since: datetime, until: datetime) -> Decimal:
    """Return what a period cost: its events plus the calls that no event owns."""
    window = Q(created_at__gte=since, created_at__lt=until)
    owned = ConversationEvent.objects.filter(window).aggregate(cost=Sum("cost_usd"))["cost"]
    calls = ModelCall.objects.filter(window, event__isnull=True)
    return (owned or ZERO) + (calls.aggregate(cost=Sum("cost_usd"))["cost"] or ZERO)


def _captured_since(since: datetime, until: datetime) -> int:
    rows = Memory.objects.filter(session__isnull=False, created_at__gte=since)
    return rows.filter(created_at__lte=until, held_at__isnull=True).count()


# What there is.


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


def created_by_day(rows: QuerySet[Memory, Any], now: datetime, days: int) -> list[CountDay]:
    """Return what was created and forgotten on each of the last `days` UTC days."""
    since = _since(now, days)
    created = (
        rows.filter(created_at__gte=since)
        .annotate(day=TruncDate("created_at", tzinfo=UTC))
        .values("day")
        .annotate(
            private=Count("id", filter=Q(visibility__in=["private", "session"])),
            org=Count("id", filter=Q(visibility="org")),
            public=Count("id", filter=Q(visibility="public")),
        )
    )
    gone = (
        rows.filter(archived_at__gte=since, superseded_at__isnull=True)
        .exclude(archive_reason="expired")
        .annotate(day=TruncDate("archived_at", tzinfo=UTC))
        .values("day")
        .annotate(times=Count("id"))
    )
    by_day = {row["day"]: row for row in created}
    forgotten = {row["day"]: row["times"] for row in gone}
    return [
        CountDay(
            date=day,
            private=by_day.get(day, {}).get("private", 0),
            org=by_day.get(day, {}).get("org", 0),
            public=by_day.get(day, {}).get("public", 0),
            forgotten=forgotten.get(day, 0),
        )
        for day in days_until(now, days)
    ]


@dataclass(frozen=True, slots=True)
class OwnStatistics:
    """What one viewer sees of memory, in numbers (keys of CONFORMANCE 202)."""

    stats: dict[str, int]
    days: tuple[CountDay, ...]
    generated_at: datetime


def own_statistics(viewer: Viewer, *, now: datetime | None = None) -> OwnStatistics:
    """Count what the viewer may see: active rows, and rows created in 90 days. No cost."""
    moment = now or clock.now()
    seen = Memory.objects.visible_to(viewer)
    return OwnStatistics(
        stats=_stats(seen, moment),
        days=tuple(created_by_day(seen.unpurged(), moment, SERIES_DAYS)),
        generated_at=moment,
    )


def _stats(rows: Any, now: datetime) -> dict[str, int]:
    active = rows.active(now)
    counts: dict[str, int] = active.aggregate(
        active=Count("id"),
        automatic=Count("id", filter=Q(origin="automatic")),
        explicit=Count("id", filter=Q(origin="explicit")),
        imported=Count("id", filter=Q(origin="import")),
        knowledge=Count("id", filter=Q(kind="knowledge")),
        preference=Count("id", filter=Q(kind="preference")),
        procedure=Count("id", filter=Q(kind="procedure")),
        private=Count("id", filter=Q(visibility__in=["private", "session"])),
        org=Count("id", filter=Q(visibility="org")),
        public=Count("id", filter=Q(visibility="public")),
    )
    embedded = MemoryEmbedding.objects.filter(embedding_model__state="in_use")
    counts["embedded"] = embedded.filter(memory__in=active.values("pk")).count()
    counts["createdThirtyDays"] = rows.filter(created_at__gte=_since(now, 30)).count()
    return counts


@dataclass(frozen=True, slots=True)
class Failure:
    """One session that was given up: ids and a reason, never what was said."""

    session_id: str
    agent: str
    reason: str
    attempts: int
    finished_at: datetime | None
    can_retry: bool


@dataclass(frozen=True, slots=True)
class QueueState:
    """How far learning has come."""

    queued: int
    processing: int
    failed: int
    oldest_queued_at: datetime | None
    worker_seen_at: datetime | None
    failures: tuple[Failure, ...]


@dataclass(frozen=True, slots=True)
class Metric:
    """One line of the report: a label, a value as people read it, and how it stands."""

    key: str
    label: str
    value: str
    tone: str


@dataclass(frozen=True, slots=True)
class OperationalReport:
    """What an operator wants to know at a glance (CONFORMANCE 2.14)."""

    metrics: tuple[Metric, ...]
    stats: dict[str, int]
    costs: Costs
    created: tuple[CountDay, ...]
    queue: QueueState
    skipped: dict[str, int] = field(default_factory=dict)
    held: int = 0
    generated_at: datetime | None = None


def operational_report(*, now: datetime | None = None) -> OperationalReport:
    """Return the deployment's state: counts, cost, queue; no content and no owner."""
    moment = now or clock.now()
    every = Memory.objects.all()
    stats = _stats(every, moment)
    spent = costs(90, now=moment)
    thirty = sum((day.extraction_usd for day in spent.days[-30:]), ZERO)
    skipped = (
        CompletedSession.objects.filter(state=SessionState.SKIPPED)
        .values("reason")
        .annotate(times=Count("id"))
    )
    return OperationalReport(
        metrics=tuple(_metrics(stats, thirty)),
        stats=stats,
        costs=spent,
        created=tuple(created_by_day(every, moment, SERIES_DAYS)),
        queue=queue_state(),
        skipped={row["reason"]: row["times"] for row in skipped},
        held=every.held().count(),
        generated_at=moment,
    )


def _metrics(stats: dict[str, int], extraction_usd: Decimal) -> Iterable[Metric]:
    active, embedded = stats["active"], stats["embedded"]
    share = round(100 * embedded / active) if active else 0
    coverage = "neutral"
    if active and embedded:
        coverage = "good" if embedded == active else "warning"
    yield Metric("active", "Active memories", str(active), "good" if active else "neutral")
    yield Metric(
        "extractionCost30d", "Extraction cost, 30 days", format_usd(extraction_usd), "neutral"
    )
    yield Metric("created30d", "Created, 30 days", str(stats["createdThirtyDays"]), "neutral")
    yield Metric("private", "Private", str(stats["private"]), "neutral")
    yield Metric("org", "Team", str(stats["org"]), "neutral")
    yield Metric("public", "Public", str(stats["public"]), "neutral")
    yield Metric("embeddingCoverage", "Embedding coverage", f"{share}%", coverage)


def format_usd(amount: Decimal | None) -> str:
    """Write an amount as people read it: two decimals, up to four below a cent."""
    if amount is None:
        return "unknown"
    if ZERO < amount < Decimal("0.01"):
        text = f"{amount:.4f}".rstrip("0")
        return f"${text}" if Decimal(text) else "<$0.0001"
    return f"${amount:,.2f}"


def queue_state() -> QueueState:
    """Return how many sessions wait, run and failed, and when a worker was last seen."""
    sessions = CompletedSession.objects.all()
    counts = sessions.aggregate(
        queued=Count("id", filter=Q(state=SessionState.QUEUED)),
        processing=Count("id", filter=Q(state=SessionState.PROCESSING)),
        failed=Count("id", filter=Q(state=SessionState.FAILED)),
        oldest=Min("created_at", filter=Q(state=SessionState.QUEUED)),
    )
    failed = (
        sessions.filter(state=SessionState.FAILED)
        .select_related("agent")
        .defer("extraction_cache")
        .order_by("-finished_at")[:MAX_FAILURES]
    )
    return QueueState(
        queued=counts["queued"],
        processing=counts["processing"],
        failed=counts["failed"],
        oldest_queued_at=counts["oldest"],
        worker_seen_at=worker_seen_at(),
        failures=tuple(
            Failure(
                session_id=session.session_id,
                agent=session.agent.name,
                reason=session.reason,
                attempts=session.attempts,
                finished_at=session.finished_at,
                can_retry=session.transcript is not None,
            )
            for session in failed
        ),
    )


def worker_seen_at() -> datetime | None:
    """Return the last heartbeat of any worker, or None when there is none."""
    from procrastinate.contrib.django.models import ProcrastinateWorker

    last = ProcrastinateWorker.objects.order_by("-last_heartbeat").first()
    return last.last_heartbeat if last else None
