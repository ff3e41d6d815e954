"""The calls behind a sum: whatever is asked for, the list adds up to the number, exactly."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from junior_memory import (
    budgets,
    event_rows,
    events,
    forgetting,
    paid_calls,
    spending,
    turnover,
)
from junior_memory.access import person
from junior_memory.day_windows import WINDOWS, end_of, since_of, start_of
from junior_memory.models import (
    Agent,
    CompletedSession,
    ConversationEvent,
    Memory,
    ModelCall,
)
from junior_memory.paid_calls import NOTHING, PURPOSES, RECALL, UNUSED, USED, Call, Which
from tests.cast import Cast
from tests.factories import BY_TEST, AgentFactory, make_memory

OUTCOMES = ("ok", "timeout", "truncated", "refused", "empty", "invalid", "http_503", "failed")
OPERATIONS = ("extraction", "review", "adjudication", "relevance", "embed", "check")
MODELS = ("model-a", "model-b", "", "50%_off")
PRICES = (None, "0", "0.000000000001", "0.1", "0.33", "1.000000000007")
OWNERS = (None, *events.VERSIONS)


def call(at: datetime, number: int, *, agent: Agent | None = None) -> ModelCall:
    """Insert one of the calls of a made-up month: each differs from the one before in all."""
    price = PRICES[number % len(PRICES)]
    return ModelCall.objects.create(
        operation=OPERATIONS[number % len(OPERATIONS)],
        provider="test",
        model=MODELS[number // 2 % len(MODELS)],
        input_tokens=number,
        cost_usd=None if price is None else Decimal(price),
        outcome=OUTCOMES[number // 3 % len(OUTCOMES)],
        recall_id=uuid4() if number % 7 == 0 else None,
        agent=agent,
        created_at=at,
    )


def own(cast: Cast, name: str, calls: list[ModelCall], at: datetime, *, useful: bool) -> None:
    """Record the event that owns some calls."""
    put_in = [events.RecalledMemory(id=uuid4(), rank=1)] if useful else []
    payloads: dict[str, events.Payload] = {
        events.MEMORIES_CAPTURED: events.MemoriesCaptured(memories=[]),
        events.MEMORIES_RECALLED: events.MemoriesRecalled(recall_id=uuid4(), memories=put_in),
        events.MEMORIES_CAPTURE_FAILED: events.CaptureFailed(reason="timeout", attempts=1),
        events.MEMORY_REVIEWED: events.MemoryReviewed(decision="reject"),
    }
    events.record_event(
        name,
        payloads[name],
        conversation_id="c",
        agent=cast.agent,
        owner=None,
        now=at,
        calls=calls,
    )


@pytest.fixture
def spent(cast: Cast, now: datetime) -> Cast:
    """Live through four months in which everything happened, some of it in the same moment."""
    other = AgentFactory.create(name="other")
    for number in range(110):
        at = now - timedelta(hours=27 * number, minutes=number % 5)
        calls = [call(at, number, agent=other if number % 4 else None)]
        name = OWNERS[number % len(OWNERS)]
        if number % 3 == 0:
            calls.append(call(at - timedelta(days=1), number + 1))
        if name:
            own(cast, name, calls, at, useful=bool(number % 2))
    for number in range(5):
        call(now, number, agent=other)
    return cast


def all_of(which: Which, *, limit: int = 7) -> list[Call]:
    """Page through a list to its end."""
    found = paid_calls.list_calls(which, limit=limit)
    calls = [*found.rows]
    while found.after is not None:
        found = paid_calls.list_calls(which, limit=limit, after=found.after)
        assert found.rows
        calls += found.rows
    assert len({one.id for one in calls}) == len(calls), "no call is shown twice"
    assert [(one.at, one.id.int) for one in calls] == sorted(
        ((one.at, one.id.int) for one in calls), key=lambda place: (-place[0].timestamp(), place[1])
    )
    return calls


def added(calls: Iterable[Call]) -> tuple[Decimal, int, int]:
    """Add up rows as a reader would: what is unknown is counted, not guessed."""
    found = list(calls)
    known = [one.cost_usd for one in found if one.cost_usd is not None]
    return sum(known, Decimal(0)), len(found), len(found) - len(known)


def test_every_kind_of_event_has_a_purpose() -> None:
    assert set(paid_calls._BY_EVENT) == set(events.VERSIONS)


@pytest.mark.parametrize("days", WINDOWS)
def test_the_list_adds_up_to_the_window(spent: Cast, now: datetime, days: int) -> None:
    costs = spending.costs(days, now=now)
    calls = all_of(Which(since=since_of(now, days), until=now))
    assert added(calls) == (costs.total_usd, costs.calls, costs.unknown)
    before = spending.window_before(now, days)
    assert added(all_of(before))[0] == costs.previous_usd
    if days < max(WINDOWS):
        assert costs.previous_usd > 0


def test_the_list_of_each_purpose_adds_up_to_it(spent: Cast, now: datetime) -> None:
    costs = spending.costs(30, now=now)
    since = since_of(now, 30)
    for purpose in PURPOSES:
        calls = all_of(Which(since=since, until=now, purpose=purpose))
        assert calls, purpose
        assert {one.purpose for one in calls} == {purpose}
        assert added(calls)[0] == getattr(costs, f"{purpose}_usd")
    used = all_of(Which(since=since, until=now, purpose=USED))
    assert added(used)[0] == costs.total_usd - costs.nothing_usd


def test_the_list_of_each_share_adds_up_to_it(spent: Cast, now: datetime) -> None:
    costs = spending.costs(30, now=now)
    since = since_of(now, 30)
    assert UNUSED in {one.name for one in costs.nothing}
    assert len(costs.nothing) > 4
    for share in costs.by_operation:
        calls = all_of(Which(since=since, until=now, operation=share.name))
        assert added(calls) == (share.cost_usd, share.calls, share.unknown)
    assert {share.name for share in costs.by_model} == set(MODELS)
    for share in costs.by_model:
        calls = all_of(Which(since=since, until=now, model=share.name))
        assert added(calls) == (share.cost_usd, share.calls, share.unknown)
    for share in costs.nothing:
        calls = all_of(Which(since=since, until=now, purpose=NOTHING, reason=share.name))
        assert {one.reason for one in calls} == {share.name}
        assert added(calls) == (share.cost_usd, share.calls, share.unknown)


def test_the_list_of_each_day_adds_up_to_each_part_of_its_bar(spent: Cast, now: datetime) -> None:
    costs = spending.costs(7, now=now)
    for day, purpose in itertools.product(costs.days, PURPOSES):
        which = Which(since=start_of(day.date), until=end_of(day.date), purpose=purpose)
        assert added(all_of(which))[0] == getattr(day, f"{purpose}_usd")


@pytest.mark.parametrize("split", spending.SPLITS)
def test_the_list_of_each_drawn_part_adds_up_to_it(spent: Cast, now: datetime, split: str) -> None:
    for number in range(4):
        own(spent, events.MEMORIES_CAPTURED, [call(now, 50 + number)], now, useful=False)
    ModelCall.objects.filter(model="").update(model="model-c", operation="model_d")
    ModelCall.objects.filter(input_tokens=51).update(model="model-e")
    ModelCall.objects.filter(input_tokens=52).update(model="model-f")
    costs = spending.costs(90, now=now)
    parts = spending.split_by_day(costs, split)
    names = tuple(part.name for part in parts if part.name not in {spending.OTHER, NOTHING})
    assert {spending.OTHER, NOTHING} < {part.name for part in parts}
    for part in parts:
        narrowed: dict[str, Any] = {split: part.name}
        if part.name == spending.OTHER:
            narrowed = {f"not_{split}s": names}
        purpose = NOTHING if part.name == NOTHING else USED
        narrowed = {} if part.name == NOTHING else narrowed
        which = Which(since=since_of(now, 90), until=now, purpose=purpose, **narrowed)
        assert added(all_of(which, limit=50))[0] == part.total_usd


def test_both_ends_of_a_stretch_count_and_nothing_beyond(cast: Cast, now: datetime) -> None:
    step = timedelta(microseconds=1)
    since = start_of(now.date())
    for at in (since - step, since, now, now + step):
        call(at, 3)
        own(cast, events.MEMORIES_RECALLED, [call(at, 4)], at, useful=True)
    calls = all_of(Which(since=since, until=now))
    assert [(one.at, one.purpose) for one in calls if one.purpose == RECALL] == [
        (now, RECALL),
        (since, RECALL),
    ]
    assert len(calls) == 4
    assert spending.costs(7, now=now).days[-1].recall_usd == 2 * Decimal("0.33")


def test_a_call_is_listed_at_the_moment_of_its_event(cast: Cast, now: datetime) -> None:
    late = [call(now - timedelta(days=3), number) for number in (3, 4, 5)]
    own(cast, events.MEMORIES_CAPTURED, late, now, useful=False)
    calls = all_of(Which(since=now, until=now), limit=1)
    assert {one.id for one in calls} == {one.pk for one in late}
    assert {one.at for one in calls} == {now}


def test_what_has_no_price_is_listed_and_not_guessed(spent: Cast, now: datetime) -> None:
    costs = spending.costs(30, now=now)
    calls = all_of(Which(since=since_of(now, 30), until=now, is_unpriced=True))
    assert added(calls) == (Decimal(0), costs.unknown, costs.unknown)
    assert costs.unknown > 0


def test_the_calls_of_an_event_add_up_to_what_it_cost(spent: Cast, now: datetime) -> None:
    for event in ConversationEvent.objects.filter(created_at__gte=since_of(now, 30)):
        calls = all_of(Which(since=since_of(now, 30), until=now, event_id=event.pk))
        assert calls
        assert event.cost_usd == events.sum_costs([one.cost_usd for one in calls])


@pytest.mark.parametrize("period", ["day", "month"])
def test_the_list_of_a_budget_adds_up_to_what_it_counts(
    spent: Cast, now: datetime, period: budgets.Period
) -> None:
    for agent in (None, Agent.objects.get(name="other")):
        calls: list[Call] = []
        after = None
        while True:
            rows = budgets.calls_of(period, agent, now=now)
            found = paid_calls.list_made(rows, limit=4, after=after)
            calls += found.rows
            after = found.after
            if after is None:
                break
        usd, unknown = budgets.spent_of(period, agent, now=now)
        assert (added(calls)[0], added(calls)[2]) == (usd, unknown)
        assert calls


def test_a_call_is_for_the_same_in_every_list(spent: Cast, now: datetime) -> None:
    for_what = {one.id: one.purpose for one in all_of(Which(since=since_of(now, 90), until=now))}
    made = paid_calls.list_made(paid_calls.made(since_of(now, 30), now), limit=100).rows
    assert set(for_what.values()) == set(PURPOSES)
    for one in made:
        assert one.purpose == for_what[one.id]


def test_recalls_and_captures_are_listed_as_they_are_counted(spent: Cast, now: datetime) -> None:
    costs = spending.costs(30, now=now)
    counts = {"recalls": costs.recalls, "useful": costs.useful_recalls, "captures": costs.captures}
    assert 0 < costs.useful_recalls < costs.recalls
    for kind in event_rows.KINDS:
        rows: list[event_rows.Happening] = []
        after = None
        while True:
            found = event_rows.list_events(kind, since_of(now, 30), now, limit=3, after=after)
            rows += found.rows
            after = found.after
            if after is None:
                break
        assert len({one.id for one in rows}) == len(rows) == counts[kind]
        if kind == event_rows.USEFUL:
            assert {one.memories for one in rows} == {1}


def test_a_later_event_leaves_a_list_that_ended_before_as_it_was(cast: Cast, now: datetime) -> None:
    which = Which(since=since_of(now, 7), until=now)
    call(now, 3)
    before = added(all_of(which))
    call(now + timedelta(seconds=1), 4)
    assert added(all_of(which)) == before
    assert added(all_of(Which(since=which.since, until=now + timedelta(minutes=1))))[1] == 2


def test_memories_are_listed_as_they_are_counted(cast: Cast, now: datetime) -> None:
    for number in range(9):
        make_memory(
            owner=cast.alice if number % 2 else cast.bob,
            content=f"Likes island {number}.",
            now=now - timedelta(days=number),
            origin="import" if number % 3 else "explicit",
        )
    make_memory(visibility="public", content="The office is closed on Sundays.", now=now)
    make_memory(owner=cast.bob, visibility="org", org=cast.org, content="At nine.", now=now)
    days = turnover.deployment_by_day(7, now=now)
    since = since_of(now, 7)
    for part in (turnover.PRIVATE, turnover.ORG, turnover.PUBLIC):
        rows = turnover.list_changes(part, since, now, limit=100).rows
        assert len(rows) == sum(getattr(day, part) for day in days) > 0
    learned = turnover.learned(7, now=now)
    for part in (turnover.ASKED, turnover.IMPORTED):
        rows = turnover.list_changes(part, since, now, limit=100).rows
        assert len(rows) == getattr(learned, part) > 0


def test_what_came_and_went_adds_up_to_the_chart(cast: Cast, now: datetime) -> None:
    states: tuple[dict[str, Any], ...] = (
        {},
        {"held_at": now},
        {"archived_at": now, "archive_reason": "declined"},
    )
    origins = ("explicit", "import", "automatic")
    for number, (state, origin) in enumerate(itertools.product(states, origins)):
        made = make_memory(owner=cast.alice, content=f"Likes {number}.", now=now, origin=origin)
        if origin == "automatic" or "held_at" not in state:
            Memory.objects.filter(pk=made.pk).update(**state)
    session = CompletedSession.objects.create(
        session_id="s",
        agent=cast.agent,
        conversation_id="c",
        completed_at=now,
        state="processed",
        body_hash="h",
        created_at=now,
    )
    learned_by = Memory.objects.filter(origin="automatic", held_at=None)
    learned_by.update(session=session)
    forgotten = make_memory(owner=cast.bob, content="Lives by the sea.", now=now)
    forgetting.forget(person(cast.bob), forgotten.pk, doer=BY_TEST, now=now)
    day = turnover.deployment_by_day(7, now=now)[-1]
    learned = turnover.learned(7, now=now)
    captured = turnover.rows_of(turnover.CAPTURED, since_of(now, 7), now).count()
    assert (learned.kept_back, learned.removed, learned.forgotten) == (1, 3, 1)
    assert day.total == learned.asked + learned.imported + captured + learned.kept_back == 10
    assert day.forgotten == learned.forgotten + learned.removed


def test_a_list_reads_at_most_five_times(
    spent: Cast, now: datetime, django_assert_max_num_queries: object
) -> None:
    with django_assert_max_num_queries(5):  # type: ignore[operator]
        paid_calls.list_calls(Which(since=since_of(now, 90), until=now))
