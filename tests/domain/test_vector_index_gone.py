"""Codes of public vectors in memory: what is gone is not found by them, and they go as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from junior_memory import (
    embedding_models,
    embeddings,
    holding,
    moderation,
    reembedding,
    vector,
    vector_index,
)
from junior_memory.access import person
from junior_memory.models import Memory, MemoryEmbedding
from junior_memory.providers import ModelName
from tests.cast import Cast
from tests.domain.coded import (
    BATCH,
    TEXT,
    asked,
    batches,
    coded,
    directions,
    exact,
    load,
    model_in_use,
    near,
    small_batches,
    stock,
)
from tests.factories import BY_TEST, make_memory


@pytest.fixture(autouse=True)
def fake(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with small_batches(settings, monkeypatch):
        yield


def removed(cast: Cast, memory: Memory, now: datetime) -> None:
    staff = person(cast.root)
    moderation.remove_public(staff, memory.pk, reason="untrue", doer=BY_TEST, now=now)


def superseded(cast: Cast, memory: Memory, now: datetime) -> None:
    by = make_memory(content="Says it better.", visibility="public", now=now)
    Memory.objects.filter(pk=memory.pk).update(superseded_at=now, superseded_by=by)


def expired(cast: Cast, memory: Memory, now: datetime) -> None:
    Memory.objects.filter(pk=memory.pk).update(expires_at=now - timedelta(seconds=1))


def held(cast: Cast, memory: Memory, now: datetime) -> None:
    staff = person(cast.alice)
    holding.report_public(staff, memory.pk, reason="untrue", doer=BY_TEST, now=now)


def held_with_its_vector(cast: Cast, memory: Memory, now: datetime) -> None:
    Memory.objects.filter(pk=memory.pk).update(held_at=now, held_reason="hostile")


def made_private(cast: Cast, memory: Memory, now: datetime) -> None:
    Memory.objects.filter(pk=memory.pk).update(visibility="private", owner=cast.bob)


@pytest.mark.parametrize(
    "leave", [removed, superseded, expired, held, held_with_its_vector, made_private]
)
def test_what_left_sight_is_not_found_by_its_code(
    cast: Cast, now: datetime, leave: Callable[[Cast, Memory, datetime], None]
) -> None:
    rows = stock(4 * BATCH, now, owner=cast.alice)
    load()
    gone = rows[6]
    stored = MemoryEmbedding.objects.get(memory=gone)
    vector.query_vectors.put(TEXT, tuple(stored.vector), str(model_in_use().pk))
    viewer = person(cast.charlie)
    assert near(viewer, now)[0] == gone.pk
    leave(cast, gone, now)
    assert gone.pk in coded()
    for _ in range(2):
        found = near(viewer, now, size=15)
        assert gone.pk not in found
        assert len(found) == 15
        vector_index.refresh(model_in_use())


def test_what_is_named_and_gone_leaves_no_gap(cast: Cast, now: datetime) -> None:
    stock(60, now)
    load()
    asked()
    viewer = person(cast.charlie)
    embeddings.drop(exact(viewer, now, 25))
    assert len(coded()) == 60
    assert near(viewer, now, size=10) == exact(viewer, now, 10)
    assert len(near(viewer, now, size=40)) == 35


def test_codes_of_vectors_that_are_gone_leave_the_process(cast: Cast, now: datetime) -> None:
    rows = stock(4 * BATCH, now)
    load()
    gone = {rows[0].pk, rows[9].pk}
    embeddings.drop(list(gone))
    vector_index.refresh(model_in_use())
    assert set(coded()) == {row.pk for row in rows} - gone
    assert len(coded()) == 4 * BATCH - 2
    embeddings.drop([row.pk for row in rows])
    for _ in range(2):
        vector_index.refresh(model_in_use())
        assert coded() == []
        asked()
        assert near(person(cast.charlie), now) == []
    later = stock(BATCH, now, seed=2)
    load()
    assert set(coded()) == {row.pk for row in later}


# Models.


def test_models_side_by_side_have_codes_of_their_own(cast: Cast, now: datetime) -> None:
    stock(3 * BATCH, now)
    load()
    old = model_in_use()
    new = embedding_models.prepare(ModelName("fake", "fake-16"), now=now)
    reembedding.write_all(new, now=now)
    vector_index.pack(new, worth_it_at=BATCH)
    vector_index.refresh_all()
    shapes = [
        (len(codes), codes.values.shape[1])
        for model in (old, new)
        if (codes := vector_index.loaded(model).codes) is not None
    ]
    assert shapes == [(12, 64), (12, 16)]
    asked()
    before = near(person(cast.charlie), now)
    reembedding.switch_to(new, now=now)
    vector.query_vectors.put(TEXT, tuple(directions(1, seed=7, dimensions=16)[0]), str(new.pk))
    assert near(person(cast.charlie), now) == exact(person(cast.charlie), now, 10) != before
    vector_index.refresh_all()
    assert vector_index.loaded(old) == vector_index.NOTHING, "memory of the model before"
    vector_index.discard(new)
    assert vector_index._loaded == {}
    assert set(batches()) == {1, 2, 3}


def test_without_an_embedder_nothing_is_kept(cast: Cast, now: datetime, settings: Any) -> None:
    stock(BATCH, now)
    load()
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"embedder": "none"}
    vector_index.refresh_all()
    assert vector_index._loaded == {}
