"""How much money may go to models, and how much of it is gone. Days and months are UTC.

A call counts when it was made, whatever came of it; one whose price is not known is counted beside
the sum, not in it. Calls under way when a budget is reached still end, so that the sum may pass the
limit by what they cost.
"""

from __future__ import annotations

from calendar import monthrange
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Literal
from uuid import UUID

from django.db.models import Count, Q, Sum

from junior_memory import clock
from junior_memory.conf import conf
from junior_memory.models import Agent
from junior_memory.paid_calls import Calls, made

Period = Literal["day", "month"]
DAY: Period = "day"
MONTH: Period = "month"
ZERO = Decimal(0)
PACE_DAYS = 4
"""Day of a month from which its average day says anything about the rest."""


@dataclass(frozen=True, slots=True)
class Budget:
    """One limit of money and what is spent of it; `agent` is empty for the whole deployment."""

    agent: str
    period: Period
    limit_usd: Decimal
    spent_usd: Decimal
    unknown: int
    """Calls of the period whose price is not known; they are not part of what is spent."""

    @property
    def is_reached(self) -> bool:
        """True when nothing is left."""
        return self.spent_usd >= self.limit_usd

    def reached_on(self, today: date) -> date | None:
        """Carry a month's average day forward: the day on which it is reached, within the month."""
        if not self._is_going or self.is_early(today):
            return None
        left = int((self.limit_usd - self.spent_usd) / (self.spent_usd / today.day))
        day = today + timedelta(days=min(left, 31))
        return day if (day.year, day.month) == (today.year, today.month) else None

    def expected_usd(self, today: date) -> Decimal | None:
        """Carry a month's average day forward: what is spent at its end; None when none can be."""
        if not self._is_going or self.is_early(today):
            return None
        _weekday, days = monthrange(today.year, today.month)
        return self.spent_usd / today.day * days

    def is_early(self, today: date) -> bool:
        """True while a month that money is spent in is too young to be carried forward."""
        return self._is_going and today.day < PACE_DAYS

    @property
    def _is_going(self) -> bool:
        return self.period == MONTH and ZERO < self.spent_usd < self.limit_usd


@dataclass(slots=True)
class _Sum:
    usd: Decimal = ZERO
    unknown: int = 0


_Limit = tuple[Agent | None, Period, Decimal]
_Sums = dict[tuple[UUID | int | None, str], _Sum]


def standing(agent: Agent | None = None, *, now: datetime | None = None) -> tuple[Budget, ...]:
    """Return the deployment's budgets and, with an agent, that agent's. One query, or none."""
    limits = [*_limits(None), *(_limits(agent) if agent else [])]
    return _budgets(limits, now or clock.now())


def all_standing(*, now: datetime | None = None) -> tuple[Budget, ...]:
    """Return the deployment's budgets and every agent's, by name. Two queries, or one."""
    limited = Agent.objects.filter(
        Q(daily_budget_usd__isnull=False) | Q(monthly_budget_usd__isnull=False)
    )
    limits = _limits(None)
    for agent in limited.order_by("name"):
        limits += _limits(agent)
    return _budgets(limits, now or clock.now())


def budget_reached(agent: Agent | None, *, now: datetime | None = None) -> bool:
    """True when a budget of the deployment or of the agent, of the day or the month, is used up."""
    return any(budget.is_reached for budget in standing(agent, now=now))


def reached_budgets(*, now: datetime | None = None) -> tuple[Budget, ...]:
    """Return every budget that is used up, the deployment's first: what a banner has to say."""
    return tuple(budget for budget in all_standing(now=now) if budget.is_reached)


def starts_at(period: Period, now: datetime) -> datetime:
    """Return when the day or the month of a moment began."""
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return today if period == DAY else today.replace(day=1)


def calls_of(period: Period, agent: Agent | None, *, now: datetime) -> Calls:
    """Return the calls that a budget's sum is made of; without an agent, the deployment's."""
    rows = made(starts_at(period, now), now)
    return rows.filter(agent=agent) if agent else rows


def spent_of(period: Period, agent: Agent | None, *, now: datetime) -> tuple[Decimal, int]:
    """Return what a budget counts as spent, and how many calls' price is not known. One query."""
    spent = _sums([(agent, period, ZERO)], now)[agent.pk if agent else None, period]
    return spent.usd, spent.unknown


def _limits(agent: Agent | None) -> list[_Limit]:
    """Return the limits of an agent, or of the deployment."""
    whose = agent or conf()
    found = ((DAY, whose.daily_budget_usd), (MONTH, whose.monthly_budget_usd))
    return [(agent, period, limit) for period, limit in found if limit is not None]


def _budgets(limits: list[_Limit], now: datetime) -> tuple[Budget, ...]:
    if not limits:
        return ()
    sums = _sums(limits, now)
    found = []
    for agent, period, limit in limits:
        spent = sums[agent.pk if agent else None, period]
        name = agent.name if agent else ""
        found.append(Budget(name, period, limit, spent.usd, spent.unknown))
    return tuple(found)


def _sums(limits: Iterable[_Limit], now: datetime) -> _Sums:
    """Add up what is asked about in one statement, by the index on days or on agent and days."""
    since = min(starts_at(period, now) for _, period, _ in limits)
    rows = made(since, now)
    if all(agent is not None for agent, _, _ in limits):
        rows = rows.filter(agent__in=[agent.pk for agent, _, _ in limits if agent])
    today = Q(created_at__gte=starts_at(DAY, now))
    unpriced = Q(cost_usd=None)
    grouped = rows.values("agent_id").annotate(
        day=Sum("cost_usd", filter=today),
        day_unknown=Count("id", filter=today & unpriced),
        month=Sum("cost_usd"),
        month_unknown=Count("id", filter=unpriced),
    )
    sums: _Sums = defaultdict(_Sum)
    for row in grouped.order_by("agent_id"):
        for whose in {row["agent_id"], None}:
            # What no agent called for counts for the deployment alone: the set has one of it.
            for period in (DAY, MONTH):
                sums[whose, period].usd += row[period] or ZERO
                sums[whose, period].unknown += row[f"{period}_unknown"]
    return sums
