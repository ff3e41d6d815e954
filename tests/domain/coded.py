"""Memories with vectors in all directions, batches of four, and a leg that is asked alone."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.db import connections

from junior_memory import (
    embedding_models,
    legs,
    vector,
    vector_index,
)
from junior_memory.access import Viewer
from junior_memory.models import EmbeddingModel, Memory, MemoryEmbedding
from tests.factories import make_memory

BATCH = 4
TEXT = "what is near"

in_the_open = pytest.mark.django_db(transaction=True)


@contextmanager
def small_batches(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The fake embedder, small batches, and a process that has nothing loaded."""
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"embedder": "fake"}
    monkeypatch.setattr(vector_index, "_loaded", {})
    monkeypatch.setattr(vector_index, "BATCH", BATCH)
    monkeypatch.setattr(vector_index, "PACKED_AT_ONCE", 2)
    monkeypatch.setattr(vector_index, "BATCHES_AT_ONCE", 2)
    vector.query_vectors.clear()
    yield
    vector.query_vectors.clear()


def directions(count: int, *, seed: int, dimensions: int = 64) -> list[list[float]]:
    found: list[list[float]] = np.random.default_rng(seed).normal(size=(count, dimensions)).tolist()
    return found


def stock(count: int, now: datetime, *, seed: int = 1, **fields: Any) -> list[Memory]:
    """Make memories, public unless said otherwise, with vectors in all directions."""
    rows = [
        make_memory(
            content=f"Fact {seed} {n}", now=now, **{"visibility": "public", **fields}
        )
        for n in range(count)
    ]  # fmt: skip
    for row, direction in zip(rows, directions(count, seed=seed), strict=True):
        MemoryEmbedding.objects.filter(memory=row).update(vector=direction)
    return rows


def model_in_use() -> EmbeddingModel:
    model = embedding_models.in_use()
    assert model is not None
    return model


def pack() -> int:
    return vector_index.pack(model_in_use(), worth_it_at=BATCH)


def load(count: int = 0) -> None:
    """Put what is in no batch into batches, and load all there are."""
    pack()
    vector_index.refresh(model_in_use())


def coded() -> list[UUID]:
    """The memories whose codes this process has, as often as it has them."""
    codes = vector_index.loaded(model_in_use()).codes
    if codes is None:
        return []
    return [UUID(hex=one) for one in codes.near([1.0] * codes.values.shape[1], len(codes))]


def asked(seed: int = 99) -> list[float]:
    """A query in some direction; `near` finds it by its text."""
    direction = directions(1, seed=seed)[0]
    vector.query_vectors.put(TEXT, tuple(direction), str(model_in_use().pk))
    return direction


def leg_of(viewer: Viewer, now: datetime, *, size: int = 10, **how: Any) -> legs.Leg:
    rows = Memory.objects.visible_to(viewer).active(now)
    query = vector.Query(model_in_use(), TEXT, timeout_seconds=5)
    return vector.vector_leg(query, viewer, lambda: rows, size=size, **how)


def run(leg: legs.Leg, *, limit_ms: int = 10_000) -> legs.LegsAnswer:
    """Ask a leg on this test's own connection."""
    return legs.run_legs([leg], limit_ms=limit_ms)


def near(viewer: Viewer, now: datetime, **how: Any) -> list[UUID]:
    answer = run(leg_of(viewer, now, **how))
    assert answer.degraded == ()
    return [row.id for row in answer.answers["vector"].lists["vector"]]


def exact(viewer: Viewer, now: datetime, size: int, **narrow: Any) -> list[UUID]:
    """Compare everything that may be seen, in Python."""
    query = np.array(vector.query_vectors.get(TEXT, str(model_in_use().pk)))
    seen = Memory.objects.visible_to(viewer).active(now).filter(**narrow)
    held = MemoryEmbedding.objects.filter(
        memory__in=seen.values("pk"), embedding_model=model_in_use()
    )
    distances = {
        row.memory_id: -float(np.dot(row.vector, query) / np.linalg.norm(row.vector))
        for row in held
    }
    return sorted(distances, key=lambda one: distances[one])[:size]


def batches() -> Counter[int]:
    return Counter(MemoryEmbedding.objects.values_list("batch", flat=True))


@contextmanager
def at_the_same_time(work: Callable[[], object]) -> Iterator[threading.Thread]:
    """Run something on another connection while the block lasts; what it raises fails the test."""
    failed: list[BaseException] = []

    def begin() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - told to the test
            failed.append(error)
        finally:
            connections.close_all()

    thread = threading.Thread(target=begin)
    thread.start()
    try:
        yield thread
    finally:
        thread.join(30)
    assert not thread.is_alive()
    assert not failed, failed
