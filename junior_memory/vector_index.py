"""The approximate index over public vectors: their codes, in the memory of every process that asks.

The worker puts public vectors that have become many into numbered batches; a process loads whole
batches, in their order, and knows up to which one it has come. What it has not loaded is compared
row by row in the database, so that a search finds everything whatever is loaded, only more slowly.
A vector written anew is in no batch again. Nothing of it is on disk but the batches' numbers.
"""

from __future__ import annotations

import atexit
import logging
import threading
from dataclasses import dataclass

import numpy as np
from django.db import connection, connections, transaction
from django.db.models import QuerySet

from junior_memory import embedding_models
from junior_memory.beside import in_thread
from junior_memory.conf import conf
from junior_memory.models import EmbeddingModel, MemoryEmbedding
from junior_memory.models.embeddings import IN_NO_BATCH
from junior_memory.vector_codes import Codes, Ids

logger = logging.getLogger(__name__)

WORTH_IT_AT = 2_048
"""Public vectors up to which comparing them one by one costs as little."""

BATCH = 128
"""Public vectors of a batch; as many may be in none, and every search compares those as well."""

PACKED_AT_ONCE = 32
"""Batches that become visible together."""

BATCHES_AT_ONCE = 128
"""Read together while loading: what is on the way takes some ten megabytes."""

EVERY_SECONDS = 20.0
"""How often a process looks for new batches, and for vectors that are gone."""

# Read by index `embedding_batches`.
PRESENT = """
FROM junior_memory_memoryembedding
WHERE embedding_model_id = %s AND visibility = 'public' AND batch > %s AND batch <= %s
"""
COUNT = f"SELECT count(*) {PRESENT}"
IDS = f"COPY (SELECT memory_id {PRESENT}) TO STDOUT (FORMAT BINARY)"
ROWS = f"COPY (SELECT memory_id, vector {PRESENT} ORDER BY batch) TO STDOUT (FORMAT BINARY)"
HEADER_BYTES, TRAILER_BYTES = 19, 2
"""Of PostgreSQL's binary COPY format, without extensions."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a process has of a model: the codes of all batches up to a number."""

    codes: Codes | None = None
    to_batch: int = 0
    is_full: bool = False
    """True when there are more batches than memory is allowed for."""


NOTHING = Loaded()
_loaded: dict[int, Loaded] = {}
_refreshing = threading.Lock()
_ending = threading.Event()
# Before this process lets go of an embedded server, which a thread would start again.
atexit.register(_ending.set)


def loaded(model: EmbeddingModel) -> Loaded:
    """Return what this process has of a model, at once."""
    return _loaded.get(int(model.pk), NOTHING)


def pack(model: EmbeddingModel, *, worth_it_at: int = WORTH_IT_AT) -> int:
    """Put public vectors that are in no batch into batches, as many as are full; returns how many.

    The first ones once there are `worth_it_at`. For the worker. Batches become visible in the order
    of their numbers, since the model's row is locked until they are. Waits for nobody who writes
    vectors.
    """
    waiting = MemoryEmbedding.objects.filter(
        embedding_model=model, visibility="public", batch=IN_NO_BATCH
    )
    least = BATCH if _batches(model) else worth_it_at
    if len(waiting.values_list("pk")[:least]) < least:
        return 0
    packed = 0
    while made := _pack_some(model, waiting):
        packed += made
    return packed


def _pack_some(model: EmbeddingModel, waiting: QuerySet[MemoryEmbedding]) -> int:
    with transaction.atomic():
        counted = EmbeddingModel.objects.select_for_update(no_key=True).filter(pk=model.pk).first()
        rows = waiting.select_for_update(skip_locked=True, no_key=True)
        chosen = list(rows.values_list("pk", flat=True)[: BATCH * PACKED_AT_ONCE])
        if counted is None or len(chosen) < BATCH:
            return 0
        full = range(0, len(chosen) - BATCH + 1, BATCH)
        for at in full:
            counted.batches += 1
            some = MemoryEmbedding.objects.filter(pk__in=chosen[at : at + BATCH])
            some.update(batch=counted.batches)
        counted.save(update_fields=["batches"])
    return len(full)


def refresh(model: EmbeddingModel) -> None:
    """Drop the codes of vectors that are gone, and load new batches, as far as memory is allowed.

    One thread at a time; searches go on with what there was.
    """
    with _refreshing:
        held = _still_there(model, loaded(model))
        codes, to_batch = held.codes, held.to_batch
        is_full = False
        room = conf().vector_index_mb * 1_000_000 - _size_of_others(model)
        while (model_batches := _batches(model)) > to_batch:
            until = min(model_batches, to_batch + BATCHES_AT_ONCE)
            is_full = (codes.size_bytes if codes else 0) >= room
            if is_full:
                if not held.is_full:
                    logger.warning("vector index is full: rows=%d", len(codes or ()))
                break
            more = _read(model, to_batch, until, beside=codes)
            codes = more if codes is None else codes.with_more(more)
            to_batch = until
            _loaded[int(model.pk)] = Loaded(codes, to_batch)
        _loaded[int(model.pk)] = Loaded(codes, to_batch, is_full)


def _size_of_others(model: EmbeddingModel) -> int:
    """Return the memory that other models' codes take."""
    others = [held.codes for key, held in list(_loaded.items()) if key != int(model.pk)]
    return sum(codes.size_bytes for codes in others if codes)


def _batches(model: EmbeddingModel) -> int:
    """Return the number of the latest batch."""
    return EmbeddingModel.objects.values_list("batches", flat=True).filter(pk=model.pk).first() or 0


def _still_there(model: EmbeddingModel, held: Loaded) -> Loaded:
    """Return a process's codes but those of vectors that left their batch: it never gets new ones.

    Counting tells whether there are any. Nothing is kept, and all read again, when the database has
    others: a backup came back, or one was written anew while the batches that it left and came to
    were read.
    """
    codes, last = held.codes, held.to_batch
    if codes is None or _batches(model) < last:
        return NOTHING
    if not np.isin(_ids(model, last - 1, last), codes.ids[-BATCH:]).all():
        return NOTHING
    with connection.cursor() as cursor:
        cursor.execute(COUNT, [int(model.pk), 0, last])
        if cursor.fetchone()[0] == len(codes):
            return held
    present = _ids(model, 0, last)
    left = codes.only(np.isin(codes.ids, present))
    return Loaded(left, last, held.is_full) if len(left) == len(present) else NOTHING


def _ids(model: EmbeddingModel, after: int, until: int) -> Ids:
    """Read which memories are in batches."""
    row = np.dtype([("fields", ">i2"), ("bytes", ">i4"), ("id", "S16")])
    found: Ids = _copied(IDS, [int(model.pk), after, until], row)["id"]
    return found


def _read(model: EmbeddingModel, after: int, until: int, *, beside: Codes | None) -> Codes:
    """Read batches, one after the other, and make their codes."""
    row = np.dtype(
        [
            ("fields", ">i2"),
            ("id_bytes", ">i4"),
            ("id", "S16"),
            ("vector_bytes", ">i4"),
            ("dimensions", ">i2"),
            ("unused", ">i2"),
            ("vector", ">f2", (model.dimensions,)),
        ]
    )
    rows = _copied(ROWS, [int(model.pk), after, until], row)
    return Codes.of(rows["id"].copy(), rows["vector"].astype(np.float16), beside=beside)


def _copied(statement: str, values: list[int], row: np.dtype[np.void]) -> np.ndarray:
    """Return what a COPY writes, whose rows are all of that form."""
    with connection.cursor() as cursor, cursor.copy(statement, values) as copy:
        written = b"".join(bytes(piece) for piece in copy)
    return np.frombuffer(written[HEADER_BYTES:-TRAILER_BYTES], dtype=row)


def refresh_all() -> None:
    """Refresh what this process has of every model that is kept up; of others it keeps nothing."""
    models = {int(model.pk): model for model in embedding_models.kept_up()}
    for known in set(_loaded) - set(models):
        _loaded.pop(known, None)
    for model in models.values():
        refresh(model)


def keep_loaded() -> None:
    """Keep what this process has up to date from now on, in a thread of its own.

    For processes that go on: without it every public vector is compared.
    """

    def rounds() -> None:
        while not _ending.is_set():
            try:
                refresh_all()
            except Exception as error:  # noqa: BLE001 - a database that is away comes back
                if not _ending.is_set():
                    logger.warning("the vector index waits (%s)", type(error).__name__)
            finally:
                connections.close_all()
            _ending.wait(EVERY_SECONDS)

    in_thread(rounds, name="vector index")


def drop_graph(model: EmbeddingModel) -> None:
    """Drop the graph over a model's public vectors that a worker of an older release has built.

    While releases change, one may build it anew after the migration that drops it; every public
    write would pay for it from then on. Not inside a transaction.
    """
    name = f"embedding_near_{int(model.pk)}"
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid", [name]
        )
        if cursor.fetchone() is not None:
            cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")


def discard(model: EmbeddingModel) -> None:
    """Delete a model with its vectors, and what this process has of them."""
    _loaded.pop(int(model.pk), None)
    model.delete()
