"""What Prometheus may know: counts, ages and sums out of the database, and nobody's name.

Computed from the tables alone, so that any number of processes answer the same whichever is asked.
Labels are words of the product (tiers, states, operations, outcomes) and of the configuration
(providers, models): never a person, an organization, an agent, an id or a text.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import Count, Q, QuerySet, Sum
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from junior_memory import budgets, clock, embedding_models, events, reports, tallies
from junior_memory.models import (
    CompletedSession,
    Memory,
    MemoryTally,
    ModelCall,
    SessionState,
    VectorTally,
    Visibility,
)
from junior_memory.providers.base import OPEN

UNDER_WAY = timedelta(minutes=10)
"""A call that nobody has heard of for that long was taken along by the end of its process."""

KEPT_SECONDS = 10.0
SHARE_OF_TIME = 20
"""Numbers are kept for 10 s, and for 20 times as long as it took to count them: however large the
tables are, a process spends at most a twentieth of its time on counting."""

PREFIX = "junior_memory_"

# One pass over the recalls by event_by_day.
RECALLS_SQL = """
    SELECT count(*), count(*) FILTER (WHERE payload->'memories' <> '[]'::jsonb)
    FROM junior_memory_conversationevent WHERE name = %s
"""
DEGRADED_SQL = """
    SELECT leg, count(*) FROM junior_memory_conversationevent,
        jsonb_array_elements_text(payload->'degraded') AS leg
    WHERE name = %s AND payload->'degraded' <> '[]'::jsonb GROUP BY leg ORDER BY leg
"""
QUEUE_SQL = """
    SELECT job.status::text, count(*),
        min(event.at) FILTER (WHERE job.scheduled_at IS NULL OR job.scheduled_at <= now())
    FROM procrastinate_jobs AS job
    LEFT JOIN procrastinate_events AS event ON event.job_id = job.id AND event.type = 'deferred'
    WHERE job.status IN ('todo', 'doing', 'failed') GROUP BY job.status
"""


@dataclass(slots=True)
class _Kept:
    """What a function counted, until it is worth counting again."""

    count: Callable[[datetime], list[Metric]]
    until: float = 0.0
    metrics: list[Metric] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, now: datetime) -> list[Metric]:
        with self.lock:
            if time.monotonic() >= self.until:
                began = time.monotonic()
                self.metrics = self.count(now)
                took = time.monotonic() - began
                self.until = time.monotonic() + max(KEPT_SECONDS, SHARE_OF_TIME * took)
            return self.metrics


class _Counted(Collector):
    """Hands over what was counted."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self.metrics = metrics

    def collect(self) -> Iterable[Metric]:
        return self.metrics


def exposition(*, now: datetime | None = None) -> bytes:
    """Return every metric in Prometheus' text format; raises Django's database errors."""
    moment = now or clock.now()
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Counted([metric for kept in _KEPT for metric in kept.get(moment)]))
    return generate_latest(registry)


def forget_counts() -> None:
    """Count again next time."""
    for kept in _KEPT:
        kept.until = 0.0


def _gauge(name: str, text: str, values: Mapping[Any, float], *labels: str) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"{PREFIX}{name}", text, labels=labels)
    for key, value in values.items():
        family.add_metric(key, value)
    return family


def _counter(
    name: str, text: str, values: Mapping[Any, float], *labels: str
) -> CounterMetricFamily:
    family = CounterMetricFamily(f"{PREFIX}{name}", text, labels=labels)
    for key, value in values.items():
        family.add_metric(key, value)
    return family


def _count_work(now: datetime) -> list[Metric]:
    """The queue, the worker and the budgets: small tables, new every few seconds."""
    with connection.cursor() as cursor:
        cursor.execute(QUEUE_SQL)
        jobs = {status: (count, oldest) for status, count, oldest in cursor.fetchall()}
    oldest = jobs.get("todo", (0, None))[1]
    seen = reports.worker_seen_at()
    reached = dict.fromkeys(
        [(scope, period) for scope in ("deployment", "agent") for period in ("day", "month")], 0
    )
    for budget in budgets.reached_budgets(now=now):
        reached["agent" if budget.agent else "deployment", budget.period] += 1
    return [
        _gauge(
            "jobs",
            "Jobs in the worker's queue; finished ones are deleted.",
            {(status,): jobs.get(status, (0, None))[0] for status in ("todo", "doing", "failed")},
            "status",
        ),
        _gauge(
            "oldest_job_age_seconds",
            "For how long the oldest job that may run waits; 0 without one.",
            {(): max((now - oldest).total_seconds(), 0) if oldest else 0},
        ),
        _gauge(
            "worker_seen_timestamp_seconds",
            "Last heartbeat of any worker, in seconds since 1970; 0 when none was ever seen.",
            {(): seen.timestamp() if seen else 0},
        ),
        _gauge("budgets_reached", "Budgets that are used up.", reached, "scope", "period"),
    ]


def _count_memories(now: datetime) -> list[Metric]:
    """Memories and their vectors, by the numbers that are kept of them."""
    every = Memory.objects.all()
    counted = MemoryTally.objects.values_list("visibility").annotate(
        created=Sum("rows"), erased=Sum("rows") - Sum("kept")
    )
    active: Counter[str] = Counter()
    for sort, count in tallies.active_by_sort(MemoryTally.objects.all(), every, now).items():
        active[sort.visibility] += count
    gone = every.filter(archived_at__isnull=False, superseded_at=None)
    forgotten = gone.exclude(archive_reason="expired").values_list("visibility")
    rows: dict[str, dict[str, int]] = {
        "active": active,
        "created": {tier: created for tier, created, _ in counted},
        "forgotten": dict(forgotten.annotate(times=Count("id"))),
        "erased": {tier: erased for tier, _, erased in counted},
    }
    by = {
        what: {(tier,): counts.get(tier, 0) for tier in Visibility.values}
        for what, counts in rows.items()
    }
    total = sum(by["active"].values())
    model = embedding_models.in_use()
    vectors = VectorTally.objects.filter(model_id=model.pk if model else 0)
    embedded = vectors.aggregate(rows=Sum("rows"))["rows"] or 0
    return [
        _gauge("memories_active", "Active memories.", by["active"], "visibility"),
        _gauge(
            "memories_created",
            "Memories ever made, in any state; deleting a person takes theirs out.",
            by["created"],
            "visibility",
        ),
        _gauge(
            "memories_forgotten",
            "Memories that were forgotten, declined or removed, erased since or not.",
            by["forgotten"],
            "visibility",
        ),
        _gauge(
            "memories_erased",
            "Memories whose content is gone for good.",
            by["erased"],
            "visibility",
        ),
        _gauge("memories_embedded", "Vectors of the model in use.", {(): embedded}),
        _gauge(
            "embedding_coverage_ratio",
            "Share of active memories with a vector of the model in use; 0 without an embedder.",
            {(): embedded / total if total else 0},
        ),
    ]


def _count_learning(now: datetime) -> list[Metric]:
    """Sessions, recalls and what models cost: one pass over each table."""
    states = dict(
        CompletedSession.objects.values_list("state").annotate(times=Count("id")).order_by("state")
    )
    with connection.cursor() as cursor:
        cursor.execute(RECALLS_SQL, [events.MEMORIES_RECALLED])
        recalls, useful = cursor.fetchone()
        cursor.execute(DEGRADED_SQL, [events.MEMORIES_RECALLED])
        degraded = {(leg,): times for leg, times in cursor.fetchall()}
    calls = {
        (row["operation"], row["provider"], row["model"], row["outcome"]): row
        for row in _ended(now)
        .values("operation", "provider", "model", "outcome")
        .annotate(
            times=Count("id"),
            cost=Sum("cost_usd"),
            unknown=Count("id", filter=Q(cost_usd=None)),
            tokens_in=Sum("input_tokens"),
            tokens_out=Sum("output_tokens"),
        )
        .order_by("operation", "provider", "model", "outcome")
    }
    labels = ("operation", "provider", "model", "outcome")
    return [
        _gauge(
            "sessions",
            "Conversations that were handed in, by how far they have come.",
            {(state,): states.get(state, 0) for state in SessionState.values},
            "state",
        ),
        _counter("recalls", "Recalls that were answered.", {(): recalls}),
        _counter("useful_recalls", "Recalls that gave at least one memory.", {(): useful}),
        _counter("degraded_recalls", "Recalls that went without a leg.", degraded, "leg"),
        _counter(
            "model_calls",
            "Requests to models, failed and late ones too.",
            {key: row["times"] for key, row in calls.items()},
            *labels,
        ),
        _counter(
            "model_cost_usd",
            "What they cost in US dollars, where the price is known.",
            {key: float(row["cost"] or 0) for key, row in calls.items()},
            *labels,
        ),
        _counter(
            "model_calls_of_unknown_price",
            "Requests whose price is not known: they are in no sum.",
            {key: row["unknown"] for key, row in calls.items()},
            *labels,
        ),
        _counter(
            "model_tokens",
            "Tokens of requests and answers.",
            {
                (operation, provider, model, way): sum(
                    row[f"tokens_{way}"]
                    for key, row in calls.items()
                    if key[:3] == (operation, provider, model)
                )
                for operation, provider, model, _ in calls
                for way in ("in", "out")
            },
            *labels[:3],
            "direction",
        ),
    ]


def _ended(now: datetime) -> QuerySet[ModelCall]:
    """Return every call but those under way: a counter never takes one back."""
    return ModelCall.objects.exclude(outcome=OPEN, created_at__gt=now - UNDER_WAY)


_KEPT = (_Kept(_count_work), _Kept(_count_memories), _Kept(_count_learning))
