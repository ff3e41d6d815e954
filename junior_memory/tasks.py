"""The worker's entry points. Domain functions do the work; this names, schedules and retries it."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.db import close_old_connections
from procrastinate import App, JobContext
from procrastinate.contrib.django import app

from junior_memory import (
    clock,
    embedding_models,
    embeddings,
    forgetting,
    holding,
    lost_sessions,
    own_words,
    people,
    queue,
    sessions,
    tools,
    vector_index,
)
from junior_memory.errors import NotFound
from junior_memory.providers import EmbeddingFailed, UnusableEmbedder

logger = logging.getLogger(__name__)

STALLED_SECONDS = 30
"""Without a heartbeat for this long a worker counts as dead (procrastinate's own default)."""


@app.task(name=queue.PROCESS_SESSION, queue=queue.QUEUE, retry=queue.SessionRetry())
def process_session(session_id: str) -> None:
    """Learn from one completed session."""
    close_old_connections()
    try:
        sessions.process_session(UUID(session_id))
    except NotFound:
        logger.warning("session is gone: session=%s", session_id)
    finally:
        close_old_connections()


@app.task(name=queue.EMBED_MEMORIES, queue=queue.QUEUE, retry=queue.RETRY)
def embed_memories(memory_ids: list[str]) -> None:
    """Write the vectors of new memories; what cannot succeed later is left to the repair."""
    close_old_connections()
    try:
        embeddings.embed_memories([UUID(one) for one in memory_ids])
    except UnusableEmbedder as error:
        logger.warning("vectors are left to the repair (%s)", type(error).__name__)
    except EmbeddingFailed as error:
        if not error.is_permanent:
            raise
        logger.warning("vectors are left to the repair (%s)", error.reason)
    finally:
        close_old_connections()


@app.task(name=queue.PROPOSE_CONFLICTS, queue=queue.QUEUE, retry=queue.RETRY)
def propose_conflicts(memory_id: str) -> None:
    """Put to a person what the words that they typed contradict."""
    close_old_connections()
    try:
        own_words.look_for_conflicts(UUID(memory_id))
    finally:
        close_old_connections()


@app.periodic(cron="* * * * *")
@app.task(name="keep_vectors", queue=queue.QUEUE, queueing_lock="keep_vectors", pass_context=False)
def keep_vectors(timestamp: int) -> None:  # noqa: ARG001
    """Every minute: write missing and stale vectors, put public ones into batches."""
    close_old_connections()
    try:
        written = embeddings.repair()
        if written:
            logger.info("vectors repaired: count=%d", written)
        for model in embedding_models.kept_up():
            vector_index.drop_graph(model)
            vector_index.pack(model)
    except (EmbeddingFailed, UnusableEmbedder) as error:
        logger.warning("vectors wait for their embedder (%s)", type(error).__name__)
    finally:
        close_old_connections()


@app.periodic(cron="* * * * *")
@app.task(name="keep_house", queue=queue.QUEUE, queueing_lock="keep_house", pass_context=False)
def keep_house(timestamp: int) -> None:
    """Every minute: archive what has expired, erase what is due, decline what nobody decided."""
    close_old_connections()
    now = max(clock.now(), datetime.fromtimestamp(timestamp, tz=UTC))
    forgetting.expire_due(now=now)
    forgetting.purge_due(now=now)
    holding.decline_stale_held(now=now)
    sessions.erase_old_transcripts(now=now)
    sessions.queue_waiting(now=now)
    lost_sessions.queue_lost(now=now)
    people.clear_rates(now=now)
    tools.clear_old_calls(now=now)
    close_old_connections()


@app.periodic(cron="* * * * * */15")
@app.task(
    name="recover_stalled",
    queue=queue.QUEUE,
    queueing_lock="recover_stalled",
    pass_context=True,
)
async def recover_stalled(context: JobContext, timestamp: int) -> None:  # noqa: ARG001
    """Every 15 seconds: give the jobs of dead workers to living ones."""
    await retry_stalled(context.app)


async def retry_stalled(worker_app: App, *, silent_seconds: float = STALLED_SECONDS) -> int:
    """Queue again what workers held that were silent for this long; returns how many jobs.

    At once, but a session whose workers keep dying waits and stands aside, so that it does not take
    one after the other with it.
    """
    manager = worker_app.job_manager
    stalled = list(await manager.get_stalled_jobs(seconds_since_heartbeat=silent_seconds))
    for job in stalled:
        aside = queue.lock_aside(job)
        wait = timedelta(seconds=queue.seconds_until_again(job.attempts) if aside else 0)
        await manager.retry_job(job, retry_at=datetime.now(UTC) + wait, lock=aside)
    if stalled:
        logger.warning("recovered jobs of a dead worker: count=%d", len(stalled))
    return len(stalled)
