"""Sessions that wait while nobody is going to process them, and how they get their job again.

A session and its job are written in one transaction, and a job outlives its worker. Where the job
is gone all the same (given up, cancelled, left out of a restored queue), the session would wait
for its end without a word.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection

from junior_memory import clock, queue
from junior_memory.models import CompletedSession

logger = logging.getLogger(__name__)

HAS_ITS_JOB = timedelta(minutes=5)
"""By then a session has its job for certain."""

QUEUED_AT_ONCE = 100

# By the index of unfinished sessions and the jobs that are left: finished ones are deleted.
# Those that wait for money have no job, and a reason.
LOST_SQL = """
    SELECT session.id FROM junior_memory_completedsession AS session
    WHERE session.state IN ('queued', 'processing') AND session.created_at < %s
      AND session.transcript IS NOT NULL AND session.reason = '' AND NOT EXISTS (
        SELECT FROM procrastinate_jobs AS job
        WHERE job.task_name = %s AND job.status IN ('todo', 'doing')
          AND job.args->>'session_id' = session.id::text)
    ORDER BY session.created_at
"""


def lost_sessions(*, now: datetime | None = None) -> list[UUID]:
    """Return the sessions that wait without a job, the oldest first."""
    edge = (now or clock.now()) - HAS_ITS_JOB
    with connection.cursor() as cursor:
        cursor.execute(LOST_SQL, [edge, queue.PROCESS_SESSION])
        return [session_id for (session_id,) in cursor.fetchall()]


def queue_lost(*, now: datetime | None = None) -> int:
    """Give sessions that wait without a job a new one; returns how many."""
    lost = lost_sessions(now=now)[:QUEUED_AT_ONCE]
    for session in CompletedSession.objects.filter(pk__in=lost).order_by("created_at"):
        queue.enqueue_session(session.pk, lock=session.lock_key)
    if lost:
        logger.warning("sessions without a job are queued again: count=%d", len(lost))
    return len(lost)
