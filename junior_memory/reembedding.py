"""A change of model: new vectors beside the old ones, a comparison, the switch, and the way back.

Search reads one model at any moment and goes on throughout. Everything here can be cut off and
begun again: only what is missing is embedded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from junior_memory import access, clock, embedding_models, embeddings, vector_index
from junior_memory.errors import Conflict
from junior_memory.models import EmbeddingModel, Memory, MemoryEmbedding, User
from junior_memory.parts import parts_of
from junior_memory.vector import Query, nearest

BATCH = 64
SAMPLES = 40
NEAREST = 10
"""How many neighbours of each sample are compared."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a model's vectors have come."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """How alike two models see the same memories; `overlap` is None without anything to compare."""

    samples: int
    overlap: float | None


def coverage(model: EmbeddingModel, *, now: datetime | None = None) -> Progress:
    """Count the active memories and those that have a vector by this model."""
    rows = Memory.objects.active(now or clock.now())
    held = MemoryEmbedding.objects.filter(embedding_model=model, memory__in=rows.values("pk"))
    return Progress(held.count(), rows.count())


def write_all(
    model: EmbeddingModel,
    *,
    rate: float = 0,
    report: Callable[[Progress], None] = lambda _: None,
    now: datetime | None = None,
) -> int:
    """Write every vector that a model lacks, at most `rate` memories a second; returns how many.

    Goes over all memories until nothing was missing. Raises EmbeddingFailed, UnusableEmbedder; what
    was written by then stays.
    """
    moment = now or clock.now()
    written = 0
    before = coverage(model, now=moment)
    while True:
        found = 0
        for batch in _missing(model, moment):
            begun = time.monotonic()
            found += embeddings.embed_with(model, batch, now=moment)
            report(Progress(min(before.done + written + found, before.total), before.total))
            if rate:
                time.sleep(max(0.0, len(batch) / rate - (time.monotonic() - begun)))
        written += found
        if not found:
            return written


def _missing(model: EmbeddingModel, now: datetime) -> Iterator[list[UUID]]:
    """Go through all active memories in the order of their ids; batches of those to embed."""
    last: UUID | None = None
    waiting: list[UUID] = []
    while True:
        rows = Memory.objects.active(now).order_by("pk")
        if last is not None:
            rows = rows.filter(pk__gt=last)
        texts = dict(rows.values_list("pk", "content")[: embeddings.REPAIR_WINDOW])
        if not texts:
            break
        last = max(texts)
        waiting += embeddings.wanting(model, texts)
        while len(waiting) >= BATCH:
            yield waiting[:BATCH]
            del waiting[:BATCH]
    if waiting:
        yield waiting


def agreement(old: EmbeddingModel, new: EmbeddingModel, *, now: datetime) -> Agreement:
    """Compare what each model puts nearest to a sample of memories, as their owners would see it.

    The samples' own vectors are the queries, so that comparing costs nothing.
    """
    shared: list[float] = []
    for memory_id, owner in _samples(old, new, now):
        near = [_neighbours(model, memory_id, owner, now) for model in (old, new)]
        most = min(len(ids) for ids in near)
        if most:
            shared.append(len(near[0] & near[1]) / most)
    return Agreement(len(shared), sum(shared) / len(shared) if shared else None)


def _samples(old: EmbeddingModel, new: EmbeddingModel, now: datetime) -> list[tuple[UUID, User]]:
    """Choose owned memories that both models know: ids are random, so the first ones will do."""
    known = Memory.objects.active(now).filter(owner__isnull=False)
    for model in (old, new):
        held = MemoryEmbedding.objects.filter(embedding_model=model)
        known = known.filter(pk__in=held.values("memory_id"))
    rows = known.select_related("owner").order_by("pk")[:SAMPLES]
    return [(memory.pk, memory.owner) for memory in rows if memory.owner is not None]


def _neighbours(model: EmbeddingModel, memory_id: UUID, owner: User, now: datetime) -> set[UUID]:
    viewer = access.person(owner)
    own = MemoryEmbedding.objects.get(embedding_model=model, memory_id=memory_id)
    query = Query(model, "", timeout_seconds=0, vector=list(own.vector))
    rows = Memory.objects.visible_to(viewer).active(now).exclude(pk=memory_id)
    with transaction.atomic():
        found = [
            row
            for part in parts_of(rows, viewer)
            for row in nearest(part, viewer, query, size=NEAREST, cutoff=None)
        ]
    found.sort(key=lambda row: -row.score)
    return {row.id for row in found[:NEAREST]}


def switch_to(model: EmbeddingModel, *, now: datetime | None = None) -> None:
    """Let search read a model from now on. Raises Conflict while memories lack its vectors.

    The model before is kept, with the vectors it has by now, to go back to; older ones are not.
    """
    moment = now or clock.now()
    progress = coverage(model, now=moment)
    if progress.done < progress.total:
        missing = progress.total - progress.done
        raise Conflict(
            "{missing} memories have no vector by {model} yet.",
            code="incomplete",
            values={"missing": missing, "model": str(model)},
        )
    vector_index.pack(model)
    for outdated in embedding_models.switch(model, now=moment):
        vector_index.discard(outdated)


def roll_back(
    *,
    rate: float = 0,
    report: Callable[[Progress], None] = lambda _: None,
    now: datetime | None = None,
) -> EmbeddingModel:
    """Go back to the model before, once the vectors that it lacks are written. Raises Conflict."""
    model = embedding_models.previous()
    if model is None:
        raise Conflict("There is no model to go back to.", code="no_previous")
    moment = now or clock.now()
    name = embedding_models.name_of(model)
    model = embedding_models.prepare(name, now=moment, dimensions=model.dimensions)
    write_all(model, rate=rate, report=report, now=moment)
    switch_to(model, now=moment)
    return model
