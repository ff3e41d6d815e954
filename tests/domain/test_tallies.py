"""The numbers that the database keeps are those of the rows, whatever is done to them."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction

from junior_memory import embedding_models, forgetting
from junior_memory.models import Memory, MemoryEmbedding, MemoryTally, VectorTally
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
def vectors() -> None:
    """Let memories have vectors."""
    embedding_models.adopt()


def test_numbers_follow_whatever_is_done(cast: Cast, now: datetime, vectors: None) -> None:
    made = some_of_everything(cast)
    assert {key[0] for key in tallied()} == {"rows", "kept", "active", "vectors"}
    assert tallied() == counted()
    for step in _steps(cast, made, now):
        step()
        assert tallied() == counted()
    recount()
    assert tallied() == counted()
    forgetting.purge_due(now=now + timedelta(days=90))
    assert tallied() == counted()
    MemoryEmbedding.objects.all().delete()
    Memory.objects.update(superseded_by=None)
    Memory.objects.all().delete()
    assert not tallied()


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
