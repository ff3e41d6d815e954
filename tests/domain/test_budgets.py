"""Budgets: what counts, for whom, from when; and when they are used up."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from junior_memory import budgets
from junior_memory.budgets import Budget
from junior_memory.models import Agent, ModelCall
from tests.cast import Cast
from tests.factories import AgentFactory


def spend(cost: str | None, at: datetime, agent: Agent | None = None) -> None:
    """Insert a model call."""
    ModelCall.objects.create(
        operation="extraction",
        provider="test",
        model="m",
        cost_usd=None if cost is None else Decimal(cost),
        outcome="failed",
        agent=agent,
        created_at=at,
    )


def limit(settings: Any, **knobs: str) -> None:
    """Set the deployment's budgets."""
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {
        f"{name}_budget_usd": Decimal(value) for name, value in knobs.items()
    }


@pytest.fixture
def frugal(db: None) -> Agent:
    """Return an agent with budgets of its own."""
    return AgentFactory.create(
        name="frugal", daily_budget_usd=Decimal("0.10"), monthly_budget_usd=Decimal(1)
    )


def test_without_a_limit_nothing_is_counted(
    cast: Cast, now: datetime, django_assert_num_queries: Any
) -> None:
    spend("9999", now)
    with django_assert_num_queries(0):
        assert budgets.standing(cast.agent, now=now) == ()
        assert not budgets.budget_reached(cast.agent, now=now)


def test_a_day_and_a_month_begin_at_midnight_utc(cast: Cast, now: datetime, settings: Any) -> None:
    limit(settings, daily="1", monthly="5")
    midnight = now.replace(hour=0)
    first = midnight.replace(day=1)
    spend("0.25", midnight)
    spend("0.50", midnight - timedelta(microseconds=1))
    spend("1.00", first)
    spend("2.00", first - timedelta(microseconds=1))
    assert budgets.standing(now=now) == (
        Budget("", "day", Decimal(1), Decimal("0.25"), 0),
        Budget("", "month", Decimal(5), Decimal("1.75"), 0),
    )


def test_what_failed_counts_and_the_unknown_is_told(
    cast: Cast, now: datetime, settings: Any
) -> None:
    limit(settings, daily="1")
    spend("0.99", now)
    spend(None, now)
    [day] = budgets.standing(now=now)
    assert (day.spent_usd, day.unknown, day.is_reached) == (Decimal("0.99"), 1, False)
    spend("0.01", now)
    assert budgets.budget_reached(cast.agent, now=now)
    assert not budgets.budget_reached(cast.agent, now=now + timedelta(days=1))


def test_an_agents_budget_stops_that_agent_alone(cast: Cast, frugal: Agent, now: datetime) -> None:
    spend("50", now, cast.agent)
    spend("50", now)
    spend("0.09", now, frugal)
    assert not budgets.budget_reached(frugal, now=now)
    spend("0.01", now, frugal)
    assert budgets.budget_reached(frugal, now=now)
    assert not budgets.budget_reached(cast.agent, now=now)
    assert budgets.reached_budgets(now=now) == (
        Budget("frugal", "day", Decimal("0.10"), Decimal("0.10"), 0),
    )


def test_the_deployments_budget_stops_every_agent(
    cast: Cast, frugal: Agent, now: datetime, settings: Any
) -> None:
    limit(settings, monthly="2")
    spend("1.50", now - timedelta(days=3), cast.agent)
    spend("0.50", now - timedelta(days=2))
    for agent in (cast.agent, frugal, None):
        assert budgets.budget_reached(agent, now=now)
    assert [(one.agent, one.period) for one in budgets.reached_budgets(now=now)] == [("", "month")]


def test_a_limit_of_nothing_is_reached_at_once(cast: Cast, now: datetime, settings: Any) -> None:
    limit(settings, daily="0")
    assert budgets.budget_reached(cast.agent, now=now)


def test_every_budget_is_read_in_two_queries(
    cast: Cast, frugal: Agent, now: datetime, settings: Any, django_assert_num_queries: Any
) -> None:
    limit(settings, daily="1", monthly="9")
    for number in range(5):
        AgentFactory.create(name=f"z{number}", monthly_budget_usd=Decimal(number + 1))
    spend("0.2", now, frugal)
    with django_assert_num_queries(2):
        found = budgets.all_standing(now=now)
    assert [(one.agent, one.period) for one in found[:5]] == [
        ("", "day"),
        ("", "month"),
        ("frugal", "day"),
        ("frugal", "month"),
        ("z0", "month"),
    ]
    assert [one.spent_usd for one in found[:5]] == [Decimal("0.2")] * 4 + [0]
    with django_assert_num_queries(1):
        budgets.standing(frugal, now=now)


@pytest.mark.parametrize(
    ("spent", "day", "wanted"),
    [("20", 10, 15), ("20", 29, None), ("0", 10, None), ("30", 10, None), ("1", 10, None)],
)
def test_the_day_of_reaching_follows_the_pace_within_the_month(
    spent: str, day: int, wanted: int | None
) -> None:
    today = datetime(2026, 11, day).date()  # noqa: DTZ001 - a date
    found = Budget("", "month", Decimal(30), Decimal(spent), 0).reached_on(today)
    assert (found.day if found else None) == wanted
    assert Budget("", "day", Decimal(30), Decimal(spent), 0).reached_on(today) is None


@pytest.mark.parametrize(
    ("spent", "day", "wanted"),
    [("10", 10, "30"), ("3", 3, None), ("4", 4, "30"), ("0", 10, None), ("40", 10, None)],
)
def test_the_end_of_a_month_is_foreseen_once_there_is_enough_of_it(
    spent: str, day: int, wanted: str | None
) -> None:
    today = datetime(2026, 11, day).date()  # noqa: DTZ001 - a date
    found = Budget("", "month", Decimal(40), Decimal(spent), 0)
    assert found.expected_usd(today) == (Decimal(wanted) if wanted else None)
    assert found.is_early(today) == (day == 3)
    assert Budget("", "day", Decimal(40), Decimal(spent), 0).expected_usd(today) is None


def test_a_young_month_is_not_said_to_reach_its_budget() -> None:
    found = Budget("", "month", Decimal(30), Decimal(20), 0)
    assert found.reached_on(datetime(2026, 11, 2).date()) is None  # noqa: DTZ001 - a date
    assert found.reached_on(datetime(2026, 11, 10).date()) is not None  # noqa: DTZ001 - a date
