"""The approximate index over public vectors: one for each model, made when there are enough rows.

Not by a migration, because its dimensions are the model's. Everything works without it, exactly and
more slowly.
"""

from __future__ import annotations

import logging

from django.db import Error, connection

from junior_memory.models import EmbeddingModel, MemoryEmbedding

logger = logging.getLogger(__name__)

WORTH_IT_AT = 5_000
"""Public vectors from which comparing them one by one takes longer than a few milliseconds."""

# Serves the vector leg over public rows (`vector.py`): cosine, the model's own dimensions. A denser
# graph than pgvector's default finds more for as many comparisons (of 200,000 rows of invented
# words .923 of the ten nearest for 4,500, not 7,600); one of m = 40 no more for twice the build.
CREATE = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS {name}
ON junior_memory_memoryembedding USING hnsw ((vector::halfvec({dimensions})) halfvec_cosine_ops)
WITH (m = 24, ef_construction = 200)
WHERE embedding_model_id = {model} AND visibility = 'public'
"""

# The planner would sample the vectors themselves; a dump with statistics must not hold any.
NO_STATISTICS = "ALTER INDEX {name} ALTER COLUMN 1 SET STATISTICS 0"

BUILD_MEMORY = "512MB"


def index_name(model: EmbeddingModel) -> str:
    """Return the name of a model's index."""
    return f"embedding_near_{int(model.pk)}"


def state_of(model: EmbeddingModel) -> str:
    """Return "ready", "broken" (a build that was cut off) or "missing"."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)",
            [index_name(model)],
        )
        row = cursor.fetchone()
    if row is None:
        return "missing"
    return "ready" if row[0] else "broken"


def ensure_index(model: EmbeddingModel, *, worth_it_at: int = WORTH_IT_AT) -> bool:
    """Build a model's index when it is worth it; returns whether it is there.

    Writes go on meanwhile. Not inside a transaction; a build that fails is tried again next time.
    """
    state = state_of(model)
    if state == "ready":
        return True
    public = MemoryEmbedding.objects.filter(embedding_model=model, visibility="public")
    if public[:worth_it_at].count() < worth_it_at:
        return False
    if state == "broken":
        drop_index(model)
    statement = CREATE.format(
        name=index_name(model), dimensions=int(model.dimensions), model=int(model.pk)
    )
    # A second try without helpers: they need shared memory that a container may not have.
    for helpers in ("2", "0"):
        try:
            with connection.cursor() as cursor:
                cursor.execute(f"SET maintenance_work_mem = '{BUILD_MEMORY}'")
                cursor.execute(f"SET max_parallel_maintenance_workers = {helpers}")
                cursor.execute(statement)
                cursor.execute(NO_STATISTICS.format(name=index_name(model)))
        except Error as error:
            logger.warning("the vector index was not built (%s)", type(error).__name__)
            drop_index(model)
        else:
            return True
        finally:
            with connection.cursor() as cursor:
                cursor.execute("RESET maintenance_work_mem")
                cursor.execute("RESET max_parallel_maintenance_workers")
    return False


def drop_index(model: EmbeddingModel) -> None:
    """Drop a model's index, whole or broken."""
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index_name(model)}")


def discard(model: EmbeddingModel) -> None:
    """Delete a model with its vectors and its index."""
    drop_index(model)
    model.delete()
