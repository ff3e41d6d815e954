"""The numbers that the database keeps are those of the rows, whatever is done to them."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from junior_memory import embedding_models, forgetting
from junior_memory.access import person
from junior_memory.models import Memory, MemoryEmbedding, MemoryTally, VectorTally
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
            "createdThirtyDays": seen.filter(created_at__lte=now).count(),
        }
        kept = seen.unpurged().filter(created_at__lte=now).count()
        assert sum(day.total for day in found.days) == kept


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
