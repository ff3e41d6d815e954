"""Numbers: a person's own, and for staff the deployment's. No content and no owner."""

from datetime import date
from typing import Annotated, Literal

from ninja import Query, Router
from pydantic import AfterValidator

from api.auth import ApiRequest, may_read, staff_only
from api.schemas import Moment, Out, Params, Usd, Whole
from junior_memory import budgets, reports, spending
from junior_memory.budgets import Budget
from junior_memory.day_windows import WINDOWS
from junior_memory.spending import Share
from junior_memory.turnover import CountDay

router = Router(tags=["numbers"], by_alias=True)


def _known_window(days: int) -> int:
    if days not in WINDOWS:
        raise ValueError(f"must be one of {', '.join(map(str, WINDOWS))}")
    return days


class WindowQuery(Params):
    """How many days back."""

    days: Annotated[Whole, AfterValidator(_known_window)] = 90


class StatsOut(Out):
    """Active memories in numbers; the last counts every memory created in thirty days."""

    active: int
    automatic: int
    explicit: int
    imported: int
    created_thirty_days: int
    embedded: int
    knowledge: int
    preference: int
    procedure: int
    private: int
    org: int
    public: int


class CountDayOut(Out):
    """Memories created on one day."""

    date: date
    private: int
    org: int
    public: int


class DashboardOut(Out):
    """What one person sees, in numbers; ninety days, today last."""

    stats: StatsOut
    days: list[CountDayOut]
    generated_at: Moment


class CostDayOut(Out):
    """What one day cost: what its events cost, upkeep, and calls that bought nothing."""

    date: date
    extraction_usd: Usd
    recall_usd: Usd
    review_usd: Usd
    upkeep_usd: Usd
    nothing_usd: Usd
    total_usd: Usd


class ShareOut(Out):
    """One part of the cost; `unknown` counts calls whose price is not known."""

    name: str
    cost_usd: Usd
    calls: int
    unknown: int


class BudgetOut(Out):
    """One budget and what is spent of it; without an agent it is the deployment's."""

    agent: str | None
    period: Literal["day", "month"]
    limit_usd: Usd
    spent_usd: Usd
    unknown: int
    reached: bool


class CostsOut(Out):
    """What learning and recall cost in a window of days, and what it was good for."""

    window: int
    days: list[CostDayOut]
    total_usd: Usd
    previous_usd: Usd
    extraction_usd: Usd
    recall_usd: Usd
    review_usd: Usd
    upkeep_usd: Usd
    nothing_usd: Usd
    per_useful_recall_usd: Usd | None
    by_operation: list[ShareOut]
    by_model: list[ShareOut]
    bought_nothing: list[ShareOut]
    captures: int
    captured: int
    recalls: int
    useful_recalls: int
    calls: int
    unknown: int
    budgets: list[BudgetOut]
    generated_at: Moment


class MetricOut(Out):
    """One line of the report."""

    key: str
    label: str
    value: str
    tone: Literal["neutral", "good", "warning", "bad"]


class FailureOut(Out):
    """One session that was given up."""

    session_id: str
    agent: str
    reason: str
    attempts: int
    finished_at: Moment | None
    can_retry: bool


class QueueOut(Out):
    """How far learning has come."""

    queued: int
    processing: int
    failed: int
    oldest_queued_at: Moment | None
    worker_seen_at: Moment | None
    failures: list[FailureOut]


class FailingCallsOut(Out):
    """Calls of a model that came to nothing in the last day, for one reason."""

    operation: str
    model: str
    reason: str
    calls: int
    last_at: Moment


class ReportOut(Out):
    """The deployment at a glance."""

    metrics: list[MetricOut]
    stats: StatsOut
    created: list[CountDayOut]
    queue: QueueOut
    skipped: dict[str, int]
    held: int
    failing_calls: list[FailingCallsOut]
    generated_at: Moment


def _stats(counts: dict[str, int]) -> StatsOut:
    return StatsOut.model_validate(counts)


def _days(days: tuple[CountDay, ...]) -> list[CountDayOut]:
    return [
        CountDayOut(date=day.date, private=day.private, org=day.org, public=day.public)
        for day in days
    ]


def _shares(shares: tuple[Share, ...]) -> list[ShareOut]:
    return [
        ShareOut(name=one.name, cost_usd=one.cost_usd, calls=one.calls, unknown=one.unknown)
        for one in shares
    ]


def _budget(budget: Budget) -> BudgetOut:
    return BudgetOut(
        agent=budget.agent or None,
        period=budget.period,
        limit_usd=budget.limit_usd,
        spent_usd=budget.spent_usd,
        unknown=budget.unknown,
        reached=budget.is_reached,
    )


@router.get("/dashboard", auth=may_read(), response=DashboardOut)
def get_dashboard(request: ApiRequest) -> DashboardOut:
    """Count what you see."""
    own = reports.own_statistics(request.auth.viewer)
    return DashboardOut(
        stats=_stats(own.stats), days=_days(own.days), generated_at=own.generated_at
    )


@router.get("/costs", auth=staff_only(WindowQuery), response=CostsOut)
def get_costs(request: ApiRequest, query: Query[WindowQuery]) -> CostsOut:  # noqa: ARG001
    """Read what learning and recall cost (staff)."""
    spent = spending.costs(query.days)
    return CostsOut(
        window=spent.window,
        days=[
            CostDayOut(
                date=day.date,
                extraction_usd=day.extraction_usd,
                recall_usd=day.recall_usd,
                review_usd=day.review_usd,
                upkeep_usd=day.upkeep_usd,
                nothing_usd=day.nothing_usd,
                total_usd=day.total_usd,
            )
            for day in spent.days
        ],
        total_usd=spent.total_usd,
        previous_usd=spent.previous_usd,
        extraction_usd=spent.extraction_usd,
        recall_usd=spent.recall_usd,
        review_usd=spent.review_usd,
        upkeep_usd=spent.upkeep_usd,
        nothing_usd=spent.nothing_usd,
        per_useful_recall_usd=spent.per_useful_recall_usd,
        by_operation=_shares(spent.by_operation),
        by_model=_shares(spent.by_model),
        bought_nothing=_shares(spent.nothing),
        captures=spent.captures,
        captured=spent.captured,
        recalls=spent.recalls,
        useful_recalls=spent.useful_recalls,
        calls=spent.calls,
        unknown=spent.unknown,
        budgets=[_budget(one) for one in budgets.all_standing(now=spent.generated_at)],
        generated_at=spent.generated_at,
    )


@router.get("/report", auth=staff_only(), response=ReportOut)
def get_report(request: ApiRequest) -> ReportOut:  # noqa: ARG001
    """Read how the deployment is doing (staff)."""
    report = reports.operational_report()
    queue = report.queue
    return ReportOut(
        metrics=[
            MetricOut(key=one.key, label=one.label, value=one.value, tone=one.tone)
            for one in report.metrics
        ],
        stats=_stats(report.stats),
        created=_days(report.created),
        queue=QueueOut(
            queued=queue.queued,
            processing=queue.processing,
            failed=queue.failed,
            oldest_queued_at=queue.oldest_queued_at,
            worker_seen_at=queue.worker_seen_at,
            failures=[
                FailureOut(
                    session_id=one.session_id,
                    agent=one.agent,
                    reason=one.reason,
                    attempts=one.attempts,
                    finished_at=one.finished_at,
                    can_retry=one.can_retry,
                )
                for one in queue.failures
            ],
        ),
        skipped=report.skipped,
        held=report.held,
        failing_calls=[
            FailingCallsOut(
                operation=one.operation,
                model=one.model,
                reason=one.reason,
                calls=one.calls,
                last_at=one.last_at,
            )
            for one in report.failing
        ],
        generated_at=report.generated_at,
    )
