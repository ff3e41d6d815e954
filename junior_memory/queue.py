"""Work for later, enqueued by name inside the write's own transaction.

Names instead of functions keep the domain free of the worker's imports; `tasks` defines them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from uuid import UUID

import psycopg
from django.db import connection, transaction
from procrastinate import App, BaseRetryStrategy, RetryDecision, RetryStrategy
from procrastinate.contrib.django import app as django_app
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import Job

PROCESS_SESSION = "process_session"
EMBED_MEMORIES = "embed_memories"
PROPOSE_CONFLICTS = "propose_conflicts"
QUEUE = "memory"

RETRY = RetryStrategy(max_attempts=6, exponential_wait=3)
"""Waits of 3, 9, 27, 81 and 243 s bridge an endpoint that is down for six minutes."""

HOLDS_UP_TIMES = 6
"""How often a session may come back before it stands aside: its owner's later sessions wait for it,
for less than the ten minutes that DESIGN 5 allows."""


class SessionRetry(BaseRetryStrategy):
    """Always again: whether a session is given up is decided by what is counted on it.

    The waits are those of `RETRY`. A session that came back too often, as one does whose worker is
    killed or whose database is away, goes on by itself and holds up nobody.
    """

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision:  # noqa: ARG002
        """See BaseRetryStrategy; `job.attempts` counts the times before this one."""
        return RetryDecision(
            retry_in={"seconds": seconds_until_again(job.attempts)}, lock=lock_aside(job)
        )


def seconds_until_again(times: int) -> int:
    """Return how long a job waits that has come back that many times before."""
    return int(RETRY.exponential_wait ** min(times + 1, HOLDS_UP_TIMES - 1))


def lock_aside(job: Job) -> str | None:
    """Return the lock under which a session holds up nobody; None while it still may."""
    if job.task_name != PROCESS_SESSION or job.attempts + 1 < HOLDS_UP_TIMES:
        return None
    return f"session:{job.task_kwargs['session_id']}"


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
    with suppress(AlreadyEnqueued), _database_errors(), transaction.atomic():
        job.defer(session_id=str(session_id))


def enqueue_embeddings(ids: Sequence[UUID]) -> None:
    """Queue the vectors of memories that were just written."""
    job = django_app.configure_task(name=EMBED_MEMORIES, queue=QUEUE)
    with _database_errors():
        job.defer(memory_ids=[str(memory_id) for memory_id in ids])


def enqueue_proposals(memory_id: UUID) -> None:
    """Queue the look for conflicts with what a person typed."""
    job = django_app.configure_task(name=PROPOSE_CONFLICTS, queue=QUEUE)
    with _database_errors():
        job.defer(memory_id=str(memory_id))


@contextmanager
def _database_errors() -> Iterator[None]:
    """Let a database that takes no job be the error of any other write: a 503, never our fault."""
    try:
        yield
    except ConnectorException as error:
        if not isinstance(error.__cause__, psycopg.Error):
            raise
        with connection.wrap_database_errors:
            raise error.__cause__ from None
