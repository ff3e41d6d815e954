"""How much money learning may spend, and how much of it is spent. Days and months are UTC.

A call counts when it was made, whatever came of it; one whose price is not known counts as one
more unknown. Calls under way when a budget is reached still end: the sum may pass the limit a bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, Sum

from junior_memory import clock
from junior_memory.conf import conf
from junior_memory.models import Agent, ModelCall

DAY = "day"
MONTH = "month"
ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class Budget:
    """One limit of money and what is spent of it; `agent` is empty for the whole deployment."""

    agent: str
    period: str
    limit_usd: Decimal
    spent_usd: Decimal
    unknown: int
    """Calls of the period whose price is not known; they are not part of what is spent."""

    @property
    def is_reached(self) -> bool:
        """True when nothing is left."""
        return self.spent_usd >= self.limit_usd


def standing(agent: Agent | None = None, *, now: datetime | None = None) -> tuple[Budget, ...]:
    """Return the deployment's budgets and, with an agent, that agent's; none when none is set."""
    moment = now or clock.now()
    limits = _limits("", conf().daily_budget_usd, conf().monthly_budget_usd)
    rows = _rows(moment)
    found = [_budget(rows, moment, *limit) for limit in limits]
    if agent is not None:
        own = rows.filter(agent=agent)
        found += [_budget(own, moment, *limit) for limit in _limits_of(agent)]
    return tuple(found)


def budget_reached(agent: Agent | None, *, now: datetime | None = None) -> bool:
    """True when a budget of the deployment or of the agent, of the day or the month, is used up."""
    return any(budget.is_reached for budget in standing(agent, now=now))


def reached_budgets(*, now: datetime | None = None) -> tuple[Budget, ...]:
    """Return every budget that is used up, the deployment's first: what a banner has to say."""
    moment = now or clock.now()
    found = list(standing(now=moment))
    for agent in Agent.objects.order_by("name"):
        rows = _rows(moment).filter(agent=agent)
        found += [_budget(rows, moment, *limit) for limit in _limits_of(agent)]
    return tuple(budget for budget in found if budget.is_reached)


def starts_at(period: str, now: datetime) -> datetime:
    """Return when the day or the month of a moment began."""
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return today if period == DAY else today.replace(day=1)


def _limits_of(agent: Agent) -> list[tuple[str, str, Decimal]]:
    return _limits(
        agent.name,
        getattr(agent, "daily_budget_usd", None),
        getattr(agent, "monthly_budget_usd", None),
    )


def _limits(
    agent: str, daily: Decimal | None, monthly: Decimal | None
) -> list[tuple[str, str, Decimal]]:
    limits = ((agent, DAY, daily), (agent, MONTH, monthly))
    return [(name, period, limit) for name, period, limit in limits if limit is not None]


def _rows(now: datetime) -> Any:
    return ModelCall.objects.filter(created_at__gte=starts_at(MONTH, now), created_at__lte=now)


def _budget(rows: Any, now: datetime, agent: str, period: str, limit: Decimal) -> Budget:
    spent = rows.filter(created_at__gte=starts_at(period, now)).aggregate(
        usd=Sum("cost_usd"), unknown=Count("id", filter=Q(cost_usd=None))
    )
    return Budget(agent, period, limit, spent["usd"] or ZERO, spent["unknown"])
