"""Work for later, enqueued by name inside the write's own transaction.

Names instead of functions keep the domain free of the worker's imports; `tasks` defines them.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from uuid import UUID

from django.db import transaction
from procrastinate import App, RetryStrategy
from procrastinate.contrib.django import app as django_app
from procrastinate.exceptions import AlreadyEnqueued

PROCESS_SESSION = "process_session"
EMBED_MEMORIES = "embed_memories"
PROPOSE_CONFLICTS = "propose_conflicts"
QUEUE = "memory"

RETRY = RetryStrategy(max_attempts=6, exponential_wait=3)
"""Waits of 3, 9, 27, 81 and 243 s bridge an endpoint that is down for six minutes; a failing
session holds up its owner for less than the ten minutes that DESIGN 5 allows, then fails."""


def configure(_app: App) -> None:
    """Called by procrastinate once Django is ready; the import registers the tasks."""
    from junior_memory import tasks  # noqa: F401


def enqueue_session(session_id: UUID, *, lock: str) -> None:
    """Queue one session behind the earlier ones of the same owner or conversation.

    A session that waits in the queue already is not queued twice.
    """
    job = django_app.configure_task(
        name=PROCESS_SESSION,
        queue=QUEUE,
        lock=lock,
        queueing_lock=f"session:{session_id}",
    )
    with suppress(AlreadyEnqueued), transaction.atomic():
        job.defer(session_id=str(session_id))


def enqueue_embeddings(ids: Sequence[UUID]) -> None:
    """Queue the vectors of memories that were just written."""
    job = django_app.configure_task(name=EMBED_MEMORIES, queue=QUEUE)
    job.defer(memory_ids=[str(memory_id) for memory_id in ids])


def enqueue_proposals(memory_id: UUID) -> None:
    """Queue the look for conflicts with what a person typed."""
    job = django_app.configure_task(name=PROPOSE_CONFLICTS, queue=QUEUE)
    job.defer(memory_id=str(memory_id))
