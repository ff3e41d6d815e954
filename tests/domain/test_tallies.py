"""The numbers that the database keeps are those of the rows, whatever is done to them."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction

from junior_memory import embedding_models, events, forgetting, spending, turnover
from junior_memory.access import person
from junior_memory.day_windows import end_of, start_of
from junior_memory.models import (
    ConversationEvent,
    Memory,
    MemoryEmbedding,
    MemoryTally,
    ModelCall,
    VectorTally,
)
from junior_memory.paid_calls import NOTHING, UNUSED, USED, Which, owned, ownerless
from junior_memory.reports import own_statistics
from junior_memory.tallies import recount
from tests.cast import Cast
from tests.dashboard.test_counts_everywhere import _steps, some_of_everything
from tests.factories import make_memory


def tallied() -> Counter[tuple[object, ...]]:
    """Return the kept numbers: each of its name, by day and sort."""
    found: Counter[tuple[object, ...]] = Counter()
    for one in MemoryTally.objects.all():
        sort = (one.day, one.visibility, one.kind, one.origin, one.org_id)
        for name in ("rows", "kept", "held", "active"):
            found[(name, *sort)] += getattr(one, name)
    for vectors in VectorTally.objects.all():
        found["vectors", vectors.model_id, vectors.visibility, vectors.org_id] += vectors.rows
    return Counter({key: count for key, count in found.items() if count})


def counted() -> Counter[tuple[object, ...]]:
    """Return the same of the rows themselves."""
    found: Counter[tuple[object, ...]] = Counter()
    for row in Memory.objects.all():
        day = row.created_at.astimezone(UTC).date()
        sort = (day, row.visibility, row.kind, row.origin, row.org_id)
        active = row.held_at is None and row.archived_at is None and row.superseded_at is None
        found["rows", *sort] += 1
        found["kept", *sort] += row.purged_at is None
        found["held", *sort] += row.held_at is not None
        found["active", *sort] += active
    for vector in MemoryEmbedding.objects.all():
        found["vectors", vector.embedding_model_id, vector.visibility, vector.org_id] += 1
    return Counter({key: count for key, count in found.items() if count})


@pytest.fixture
def vectors(settings: Any) -> None:
    """Let memories have vectors."""
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"embedder": "fake"}
    embedding_models.adopt()


def test_numbers_follow_whatever_is_done(cast: Cast, now: datetime, vectors: None) -> None:
    made = some_of_everything(cast)
    names = {key[0] for key in tallied()}
    for step in _steps(cast, made, now):
        step()
        assert tallied() == counted()
        for part in turnover.PARTS:
            since = start_of((now - timedelta(days=3)).date())
            found = turnover.rows_of(part, since, now).count()
            assert turnover.count_of(part, since, now) == found, part
        names |= {key[0] for key in tallied()}
    assert names == {"rows", "kept", "active", "held", "vectors"}
    recount()
    assert tallied() == counted()
    forgetting.purge_due(now=now + timedelta(days=90))
    assert tallied() == counted()
    MemoryEmbedding.objects.all().delete()
    Memory.objects.update(superseded_by=None)
    Memory.objects.all().delete()
    assert not tallied()


def test_a_persons_numbers_are_those_of_what_they_see(
    cast: Cast, now: datetime, vectors: None
) -> None:
    made = some_of_everything(cast)
    for step in _steps(cast, made, now):
        step()
    for user in (cast.alice, cast.bob, cast.charlie, cast.root):
        found = own_statistics(person(user), now=now)
        seen = Memory.objects.visible_to(person(user))
        active = seen.active(now)
        held = MemoryEmbedding.objects.filter(memory__in=active)
        # Of what others share only what is there to be seen; of one's own all that came.
        mine = seen.private_to(person(user)).filter(created_at__lte=now)
        shared = active.exclude(visibility__in=["private", "session"]).filter(created_at__lte=now)
        assert found.stats == {
            "active": active.count(),
            "automatic": active.filter(origin="automatic").count(),
            "explicit": active.filter(origin="explicit").count(),
            "imported": active.filter(origin="import").count(),
            "preference": active.filter(kind="preference").count(),
            "procedure": active.filter(kind="procedure").count(),
            "knowledge": active.filter(kind="knowledge").count(),
            "private": active.filter(visibility__in=["private", "session"]).count(),
            "org": active.filter(visibility="org").count(),
            "public": active.filter(visibility="public").count(),
            "embedded": held.count(),
            "createdThirtyDays": mine.count() + shared.count(),
        }
        kept = mine.unpurged().count() + shared.count()
        assert sum(day.total for day in found.days) == kept


def assert_sums_are_those_of_the_calls(now: datetime) -> None:
    for until in (now, now - timedelta(hours=30), now - timedelta(days=2), end_of(now.date())):
        which = Which(since=start_of((now - timedelta(days=6)).date()), until=until)
        asked = (
            which,
            replace(which, purpose=NOTHING),
            replace(which, purpose=USED),
            replace(which, reason=UNUSED),
            replace(which, reason="timeout"),
            replace(which, operation="embed"),
            replace(which, model="m-1", not_operations=("embed",)),
            replace(which, outcome="ok", not_models=("m-1",)),
        )
        for each in asked:
            lines = [*spending._lines(owned(each)), *spending._lines(ownerless(each))]
            assert spending.paid(each) == spending._sorted(lines), each


def test_what_calls_cost_follows_whatever_is_done(cast: Cast, now: datetime) -> None:
    chance = random.Random("calls")  # noqa: S311 - the same in every run
    payloads: dict[str, events.Payload] = {
        events.MEMORIES_CAPTURED: events.MemoriesCaptured(memories=[]),
        events.MEMORIES_RECALLED: events.MemoriesRecalled(recall_id=uuid4(), memories=[]),
        events.MEMORY_REVIEWED: events.MemoryReviewed(decision="reject"),
    }
    for number in range(60):
        at = now - timedelta(hours=chance.randrange(24 * 7), minutes=number)
        calls = [
            ModelCall.objects.create(
                operation=chance.choice(["embed", "extraction", "relevance"]),
                provider="p",
                model=chance.choice(["m-1", "m-2"]),
                outcome=chance.choice(["ok", "timeout", "open"]),
                cost_usd=chance.choice([None, Decimal("0.000000000001"), Decimal("1.5")]),
                recall_id=chance.choice([None, uuid4()]),
                tool_call_key=chance.choice(["", "a key"]),
                created_at=at - timedelta(hours=chance.randrange(30)),
            )
            for _ in range(chance.randrange(1, 4))
        ]
        if number % 3:
            name = chance.choice(list(payloads))
            events.record_event(
                name,
                payloads[name],
                conversation_id="c",
                agent=cast.agent,
                owner=None,
                now=at,
                calls=calls,
            )
    assert_sums_are_those_of_the_calls(now)
    some = ModelCall.objects.filter(outcome="open")
    some.update(outcome="ok", cost_usd=Decimal("0.25"))
    assert_sums_are_those_of_the_calls(now)
    ConversationEvent.objects.filter(name=events.MEMORIES_RECALLED).delete()
    assert_sums_are_those_of_the_calls(now)
    ModelCall.objects.filter(model="m-2", outcome="timeout").delete()
    assert_sums_are_those_of_the_calls(now)
    recount()
    assert_sums_are_those_of_the_calls(now)
    ModelCall.objects.all().delete()
    assert not spending.paid(Which(since=start_of(now.date()), until=now))


@pytest.mark.django_db(transaction=True)
def test_two_writers_of_one_sort_do_not_wait_for_each_other(cast: Cast, now: datetime) -> None:
    make_memory(owner=cast.alice, content="First.", now=now)
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '2s'")
    other = connection.copy()
    try:
        with transaction.atomic(), other.cursor() as held:
            held.execute("BEGIN")
            held.execute("SELECT 1 FROM junior_memory_memorytally FOR UPDATE")
            make_memory(owner=cast.alice, content="Second.", now=now)
            held.execute("COMMIT")
    finally:
        other.close()
    assert MemoryTally.objects.count() == 2
    assert tallied() == counted()
