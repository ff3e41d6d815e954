"""Aggregates for the overview, the operational report and a person's own statistics.

Days are UTC, gap-free, and end today. No content and no owner ever appears; what it cost is counted
in `spending`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal

from django.db.models import Count, Min, Q

from junior_memory import clock, tallies
from junior_memory.access import Viewer
from junior_memory.day_windows import since_of
from junior_memory.models import (
    CompletedSession,
    EmbeddingModel,
    Memory,
    MemoryEmbedding,
    MemoryKind,
    MemoryTally,
    SessionState,
    VectorTally,
)
from junior_memory.paid_calls import EXTRACTION, Which
from junior_memory.spending import ZERO, FailingCalls, failing_calls, total_of
from junior_memory.tallies import Came
from junior_memory.turnover import (
    ALL,
    HELD,
    TIERS,
    VISIBILITIES,
    CountDay,
    by_day,
    deployment_by_day,
)

SERIES_DAYS = 90
ORIGINS = {"automatic": "automatic", "explicit": "explicit", "import": "imported"}
"""What each origin is called among the numbers."""

MAX_FAILURES = 50


@dataclass(frozen=True, slots=True)
class OwnStatistics:
    """What one viewer sees of memory, in numbers (keys of CONFORMANCE 202)."""

    stats: dict[str, int]
    days: tuple[CountDay, ...]
    generated_at: datetime


def own_statistics(viewer: Viewer, *, now: datetime | None = None) -> OwnStatistics:
    """Count what a person may see: active rows, and rows created in 90 days. No cost.

    Of their own rows all that came count, whatever became of them; of what others share those that
    are there to be seen.
    """
    moment = now or clock.now()
    seen = Memory.objects.visible_to(viewer)
    own = seen.private_to(viewer)
    shared = seen.exclude(visibility__in=["private", "session"])
    since = since_of(moment, SERIES_DAYS)
    counts = own.active(moment).values_list(*tallies.SORT).annotate(count=Count("id"))
    sorts = Counter({tallies.Sort(*sort): count for *sort, count in counts})
    sorts.update(tallies.active_by_sort(MemoryTally.objects.shared_with(viewer), shared, moment))
    came = tallies.created_among(own, since, moment)
    came += tallies.active_between(MemoryTally.objects.shared_with(viewer), shared, since, moment)
    embedded = 0
    model = _model_in_use()
    if model is not None:
        mine = MemoryEmbedding.objects.filter(embedding_model=model, memory__in=own.active(moment))
        vectors = VectorTally.objects.shared_with(viewer)
        embedded = mine.count() + tallies.count_embedded(vectors, shared, model, moment)
    unerased = [replace(one, rows=one.kept) for one in came]
    return OwnStatistics(
        stats=_stats(sorts, came, embedded, moment),
        days=tuple(by_day(unerased, own.unpurged(), moment, SERIES_DAYS)),
        generated_at=moment,
    )


def _stats(
    sorts: Counter[tallies.Sort], came: Iterable[Came], embedded: int, now: datetime
) -> dict[str, int]:
    """Add up active memories by sort, and what came in thirty days."""
    counts = Counter[str]()
    for sort, count in sorts.items():
        for name in ("active", ORIGINS[sort.origin], sort.kind, TIERS[sort.visibility]):
            counts[name] += count
    first = since_of(now, 30).date()
    names = ("active", *ORIGINS.values(), *MemoryKind.values, *VISIBILITIES)
    return {name: counts[name] for name in names} | {
        "embedded": embedded,
        "createdThirtyDays": sum(one.rows for one in came if one.day >= first),
    }


def _model_in_use() -> int | None:
    models = EmbeddingModel.objects.filter(state=EmbeddingModel.State.IN_USE)
    return models.values_list("pk", flat=True).first()


def _stats_of_all(now: datetime) -> dict[str, int]:
    every, since = Memory.objects.all(), since_of(now, 30)
    model = _model_in_use()
    vectors = VectorTally.objects.all()
    return _stats(
        tallies.active_by_sort(MemoryTally.objects.all(), every, now),
        tallies.created_between(MemoryTally.objects.all(), every, since, now),
        tallies.count_embedded(vectors, every, model, now) if model else 0,
        now,
    )


@dataclass(frozen=True, slots=True)
class Present:
    """What there is now: active memories in numbers, what is held, and sessions that failed."""

    stats: dict[str, int]
    held: int
    failed: int

    def count_of(self, part: str) -> int:
        """Return how many memories a part of `turnover.PRESENT` has."""
        if part == HELD:
            return self.held
        return self.stats["active" if part == ALL else part]


def present(*, now: datetime | None = None) -> Present:
    """Count what the deployment holds now."""
    every = Memory.objects.all()
    return Present(
        stats=_stats_of_all(now or clock.now()),
        held=every.held().count(),
        failed=CompletedSession.objects.filter(state=SessionState.FAILED).count(),
    )


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
    created: tuple[CountDay, ...]
    queue: QueueState
    skipped: dict[str, int] = field(default_factory=dict)
    held: int = 0
    failing: tuple[FailingCalls, ...] = ()
    generated_at: datetime | None = None


def operational_report(*, now: datetime | None = None) -> OperationalReport:
    """Return the deployment's state: counts, cost, queue; no content and no owner."""
    moment = now or clock.now()
    every = Memory.objects.all()
    stats = _stats_of_all(moment)
    thirty = Which(since=since_of(moment, 30), until=moment, purpose=EXTRACTION)
    skipped = (
        CompletedSession.objects.filter(state=SessionState.SKIPPED)
        .values("reason")
        .annotate(times=Count("id"))
    )
    return OperationalReport(
        metrics=tuple(_metrics(stats, total_of(thirty).cost_usd)),
        stats=stats,
        created=tuple(deployment_by_day(SERIES_DAYS, now=moment)),
        queue=queue_state(),
        skipped={row["reason"]: row["times"] for row in skipped},
        held=every.held().count(),
        failing=failing_calls(now=moment),
        generated_at=moment,
    )


def _metrics(stats: dict[str, int], extraction_usd: Decimal) -> Iterable[Metric]:
    active, embedded = stats["active"], stats["embedded"]
    # Rounded down: what lacks one vector is not at 100 %.
    share = 100 * embedded // active if active else 0
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
