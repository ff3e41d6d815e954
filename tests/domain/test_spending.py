"""What the money of a window went to: every split adds up to the report."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from junior_memory import events, forgetting, memories, spending, turnover
from junior_memory.access import person
from junior_memory.models import ModelCall
from tests.cast import Cast
from tests.factories import BY_TEST, make_memory


def call(operation: str, cost: str | None, at: datetime) -> ModelCall:
    """Insert a model call."""
    return ModelCall.objects.create(
        operation=operation,
        provider="test",
        model="m",
        cost_usd=None if cost is None else Decimal(cost),
        outcome="ok",
        created_at=at,
    )


def captured(cast: Cast, calls: list[ModelCall], at: datetime) -> None:
    """Record the event that owns some calls."""
    events.record_event(
        events.MEMORIES_CAPTURED,
        events.MemoriesCaptured(memories=[]),
        conversation_id="c",
        agent=cast.agent,
        owner=None,
        now=at,
        calls=calls,
    )


def test_a_call_counts_on_the_day_of_its_event(cast: Cast, now: datetime) -> None:
    midnight = now.replace(hour=0, minute=0)
    before = call("extraction", "0.10", midnight - timedelta(minutes=1))
    captured(cast, [before, call("review", "0.20", midnight)], midnight)
    costs = spending.costs(7, now=now)
    parts = {part.name: part for part in spending.split_by_day(costs, "operation")}
    assert parts["extraction"].by_day[-2:] == (Decimal(0), Decimal("0.10"))
    for at, day in enumerate(costs.days):
        assert sum(part.by_day[at] for part in parts.values()) == day.total_usd


def test_a_call_before_the_window_counts_with_its_event_in_it(cast: Cast, now: datetime) -> None:
    first = now.replace(hour=0, minute=0) - timedelta(days=6)
    captured(cast, [call("extraction", "0.10", first - timedelta(minutes=1))], first)
    costs = spending.costs(7, now=now)
    parts = spending.split_by_day(costs, "model")
    assert sum(part.total_usd for part in parts) == costs.total_usd == Decimal("0.10")


def test_what_is_known_of_an_event_counts_beside_a_call_of_unknown_price(
    cast: Cast, now: datetime
) -> None:
    captured(cast, [call("extraction", "0.10", now), call("review", None, now)], now)
    costs = spending.costs(7, now=now)
    parts = spending.split_by_day(costs, "operation")
    assert sum(part.total_usd for part in parts) == costs.total_usd == Decimal("0.10")
    assert costs.extraction_usd == Decimal("0.10")
    assert costs.unknown == 1


def test_what_nobody_owns_is_the_last_part(cast: Cast, now: datetime) -> None:
    call("extraction", "0.30", now)
    parts = spending.split_by_day(spending.costs(7, now=now), "operation")
    assert [(part.name, part.total_usd) for part in parts] == [("nothing", Decimal("0.30"))]


def test_another_split_is_an_error(cast: Cast, now: datetime) -> None:
    with pytest.raises(ValueError, match="split"):
        spending.split_by_day(spending.costs(7, now=now), "owner")


def test_what_was_learned_and_let_go_is_counted_once(cast: Cast, now: datetime) -> None:
    viewer = person(cast.alice)
    make_memory(owner=cast.alice, content="Old.", now=now - timedelta(days=8))
    gone = make_memory(owner=cast.alice, content="Lives in Utrecht.", now=now)
    fix = memories.correct_memory(
        viewer, gone.pk, "Lives in Ghent.", version=gone.version, doer=BY_TEST, now=now
    )
    make_memory(owner=cast.alice, content="Prefers tea.", origin="import", now=now)
    make_memory(
        owner=cast.alice,
        content="On leave.",
        now=now - timedelta(days=2),
        expires_at=now - timedelta(days=1),
    )
    forgetting.forget(viewer, fix.pk, doer=BY_TEST, now=now)
    forgetting.expire_due(now=now)
    assert turnover.learned(7, now=now) == turnover.Learned(
        asked=3, imported=1, replaced=1, forgotten=1, expired=1
    )


def test_a_good_answer_that_nothing_came_of_is_named_unused(cast: Cast, now: datetime) -> None:
    call("extraction", "0.30", now)
    reasons = [(one.name, one.cost_usd) for one in spending.costs(7, now=now).nothing]
    assert reasons == [("unused", Decimal("0.30"))]
