"""Vectors of memories: written with them, dropped with them, repaired by the worker.

Only active memories have any. A vector is derived and never decides a write: what cannot be
embedded is stored all the same, found by words, and embedded later.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from django.db import Error, transaction

from junior_memory import clock, embedding_models, fingerprints, queue
from junior_memory.model_calls import OnBehalf
from junior_memory.models import EmbeddingModel, Memory, MemoryEmbedding
from junior_memory.models.embeddings import IN_NO_BATCH, NEVER_IN_BATCH
from junior_memory.providers import (
    EmbeddingFailed,
    UnusableEmbedder,
    Vector,
    configured,
    embedder_for,
    word_vectors,
)
from junior_memory.secrets import RULES_VERSION, mask_secrets

logger = logging.getLogger(__name__)

WRITE_SECONDS = 60.0
"""What one batch of the worker may take, with its attempts."""

WRITE_ATTEMPTS = 4
REPAIR_WINDOW = 5_000
"""Memories that one look of the repair goes through."""

REPAIR_SECONDS = 20.0
"""After which a repair that keeps finding work leaves the rest to the next minute."""

BATCH = 128
"""Memories that are embedded and stored together."""


def content_hash(content: str) -> str:
    """Return what tells that a vector is of this text, as it is masked today."""
    return fingerprints.keyed("embedding", RULES_VERSION, content)


def embed_texts(
    model: EmbeddingModel,
    texts: Sequence[str],
    *,
    timeout_seconds: float,
    attempts: int = 1,
    on_behalf: OnBehalf | None = None,
    is_awaited: bool = True,
    put_down: Callable[[Callable[[], object]], object] = lambda record: record(),
) -> tuple[Vector, ...]:
    """Return a vector for each text, secrets masked; what was paid is on the record by then.

    `put_down` runs the record of what succeeded, and may do so beside what comes next. Not inside a
    transaction unless the embedder is local. Raises EmbeddingFailed, UnusableEmbedder.
    """
    vectors = embedding_models.ask_embedder(
        embedding_models.embedder_of(model),
        [mask_secrets(text) for text in texts],
        timeout_seconds=timeout_seconds,
        attempts=attempts,
        on_behalf=on_behalf,
        is_awaited=is_awaited,
        put_down=put_down,
    )
    if any(len(vector) != model.dimensions for vector in vectors):
        raise EmbeddingFailed("wrong_dimensions", is_permanent=True)
    return vectors


def cover(memories: Sequence[Memory], *, now: datetime) -> None:
    """Give memories that became active their vectors, in the transaction that made them active.

    At once where that costs nothing, else by the worker. Never fails the write.
    """
    name = configured()
    fresh = [memory for memory in memories if memory.held_at is None]
    if name is None or not fresh:
        return
    try:
        with transaction.atomic():
            models = embedding_models.kept_up()
            if not models and embedder_for(name).is_local:
                adopted = embedding_models.adopt(now=now)
                models = [adopted] if adopted else []
            elsewhere = not models
            for model in models:
                if embedding_models.embedder_of(model).is_local:
                    _cover_at_once(model, fresh, now)
                else:
                    elsewhere = True
            if elsewhere:
                queue.enqueue_embeddings([memory.pk for memory in fresh])
    except (EmbeddingFailed, UnusableEmbedder, Error) as error:
        logger.warning("vectors are left to the repair (%s)", type(error).__name__)


def _cover_at_once(model: EmbeddingModel, memories: Sequence[Memory], now: datetime) -> None:
    vectors = embed_texts(model, [m.content for m in memories], timeout_seconds=1)
    _insert(model, memories, vectors, now)


def _insert(
    model: EmbeddingModel,
    memories: Sequence[Memory],
    vectors: Sequence[Vector],
    now: datetime,
) -> None:
    MemoryEmbedding.objects.bulk_create(
        (
            MemoryEmbedding(
                memory=memory,
                embedding_model=model,
                owner_id=memory.owner_id if memory.visibility in {"private", "session"} else None,
                org_id=memory.org_id if memory.visibility == "org" else None,
                visibility=memory.visibility,
                content_hash=content_hash(memory.content),
                vector=list(vector),
                batch=IN_NO_BATCH if memory.visibility == "public" else NEVER_IN_BATCH,
                created_at=now,
            )
            for memory, vector in zip(memories, vectors, strict=True)
        ),
        update_conflicts=True,
        unique_fields=["memory", "embedding_model"],
        # In no batch again: the codes that processes have loaded are of the vector before.
        update_fields=["vector", "content_hash", "created_at", "batch"],
    )


def drop(ids: Sequence[UUID]) -> None:
    """Delete every vector of memories that left the active set, in the transaction of that."""
    MemoryEmbedding.objects.filter(memory_id__in=ids).delete()


def embed_memories(ids: Sequence[UUID], *, now: datetime | None = None) -> int:
    """Write the vectors that these memories lack, by every model that is kept up.

    For the worker: asks the model outside any transaction. Returns how many; raises EmbeddingFailed
    and UnusableEmbedder.
    """
    moment = now or clock.now()
    embedding_models.adopt(now=moment)
    written = 0
    for model in embedding_models.kept_up():
        held = MemoryEmbedding.objects.filter(embedding_model=model, memory_id__in=ids)
        have = set(held.values_list("memory_id", flat=True))
        written += embed_with(model, [one for one in ids if one not in have], now=moment)
    return written


def embed_with(model: EmbeddingModel, ids: Sequence[UUID], *, now: datetime) -> int:
    """Write vectors of these memories by one model, over older ones; returns how many."""
    written = 0
    for start in range(0, len(ids), BATCH):
        rows = Memory.objects.active(now).filter(pk__in=ids[start : start + BATCH])
        texts = dict(rows.values_list("pk", "content"))
        if not texts:
            continue
        vectors = embed_texts(
            model,
            list(texts.values()),
            timeout_seconds=WRITE_SECONDS,
            attempts=WRITE_ATTEMPTS,
            is_awaited=False,
        )
        written += _store(model, dict(zip(texts, vectors, strict=True)), now)
    return written


def _store(model: EmbeddingModel, vectors: dict[UUID, Vector], now: datetime) -> int:
    """Store vectors of memories that are still active: whoever forgets one waits, or was first."""
    with transaction.atomic():
        rows = Memory.objects.active(now).filter(pk__in=list(vectors)).order_by("pk")
        memories = list(
            rows.select_for_update(of=("self",), no_key=True).only(
                "content", "owner_id", "org_id", "visibility"
            )
        )
        _insert(model, memories, [vectors[memory.pk] for memory in memories], now)
    return len(memories)


def repair(*, now: datetime | None = None, seconds: float = REPAIR_SECONDS) -> int:
    """Write vectors that are missing or of another text; returns how many.

    Goes round all memories in windows, one window a call when it finds nothing, on until `seconds`
    are over while it does. Raises EmbeddingFailed, UnusableEmbedder.
    """
    moment = now or clock.now()
    ends_at = time.monotonic() + seconds
    embedding_models.adopt(now=moment)
    written = 0
    for model in embedding_models.kept_up():
        while True:
            found, is_round_over = _repair_window(model, moment)
            written += found
            if is_round_over or not found or time.monotonic() > ends_at:
                break
    return written


def _repair_window(model: EmbeddingModel, now: datetime) -> tuple[int, bool]:
    rows = Memory.objects.active(now).order_by("pk")
    if model.checked_to is not None:
        rows = rows.filter(pk__gt=model.checked_to)
    texts = dict(rows.values_list("pk", "content")[:REPAIR_WINDOW])
    written = embed_with(model, wanting(model, texts), now=now)
    model.checked_to = max(texts) if len(texts) == REPAIR_WINDOW else None
    EmbeddingModel.objects.filter(pk=model.pk).update(checked_to=model.checked_to)
    return written, model.checked_to is None


def wanting(model: EmbeddingModel, texts: Mapping[UUID, str]) -> list[UUID]:
    """Return which of these memories have no vector of their text by this model."""
    held = MemoryEmbedding.objects.filter(embedding_model=model, memory_id__in=list(texts))
    hashes = dict(held.values_list("memory_id", "content_hash"))
    return [
        memory_id
        for memory_id, text in texts.items()
        if hashes.get(memory_id) not in fingerprints.keyed_all("embedding", RULES_VERSION, text)
    ]


def warm_up() -> None:
    """Load what is local now, so that the first search does not wait for it."""
    name = configured()
    if name is None:
        return
    try:
        embedder = embedder_for(name)
        if embedder.provider == "local":
            embedder.embed(["warm"], timeout_seconds=1)
        vectors_of = word_vectors()
        if vectors_of is not None:
            vectors_of(["warm"])
    except (EmbeddingFailed, UnusableEmbedder) as error:
        logger.warning("the embedder cannot work (%s)", type(error).__name__)
