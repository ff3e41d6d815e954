"""The worker, its queue, the sessions in it, and the money they may cost."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import connection
from django.db.models import Count

from junior_memory import budgets, reports
from junior_memory.doctor.finding import Finding, fail, in_words, ok, warn
from junior_memory.lost_sessions import lost_sessions
from junior_memory.models import CompletedSession, SessionState

WORKER_SILENT = timedelta(seconds=60)
"""A worker writes its heartbeat every 10 s; after six missing ones it counts as gone."""

SLOW, STUCK = timedelta(minutes=10), timedelta(hours=2)
"""Age of the oldest job from which an operator should look, and from which nothing moves."""

LATELY = timedelta(days=7)

# By the primary keys of both tables; finished jobs are deleted, so that few rows are read.
QUEUE_SQL = """
    SELECT count(*) FILTER (WHERE job.status = 'todo'),
           count(*) FILTER (WHERE job.status = 'doing'),
           count(*) FILTER (WHERE job.status = 'failed'),
           min(event.at) FILTER (WHERE job.status = 'todo'
                                 AND (job.scheduled_at IS NULL OR job.scheduled_at <= now()))
    FROM procrastinate_jobs AS job
    LEFT JOIN procrastinate_events AS event
        ON event.job_id = job.id AND event.type = 'deferred'
"""


def worker_was_seen(now: datetime) -> Finding:
    """A worker wrote its heartbeat lately."""
    remedy = "Start one: manage.py worker. Until then nothing is learned, purged or expired."
    seen_at = reports.worker_seen_at()
    if seen_at is None:
        return fail("worker", "never seen", remedy)
    silent = now - seen_at
    if silent > WORKER_SILENT:
        return fail("worker", f"silent for {in_words(silent)}", remedy)
    return ok("worker", f"seen {in_words(silent)} ago")


def queue_moves(now: datetime) -> Finding:
    """Jobs are done soon after they are queued."""
    with connection.cursor() as cursor:
        cursor.execute(QUEUE_SQL)
        waiting, doing, failed, oldest = cursor.fetchone()
    age = now - oldest if oldest else timedelta(0)
    seen = f"{waiting} waiting, {doing} running, {failed} failed"
    if oldest:
        seen += f"; the oldest waits for {in_words(age)}"
    if age > STUCK:
        return fail("queue", seen, "Start workers, or look at why they do not come through.")
    if age > SLOW:
        return warn("queue", seen, "Start more workers: manage.py worker.")
    if failed:
        remedy = "The System page names failed sessions; other failed jobs are made again."
        return warn("queue", seen, remedy)
    return ok("queue", seen)


def sessions_come_through(now: datetime) -> Finding:
    """No session is given up, and none waits without a job."""
    lost = len(lost_sessions(now=now))
    if lost:
        return fail(
            "sessions",
            f"{lost} wait without a job",
            "A worker queues them again within a minute: start one, manage.py worker.",
        )
    failed = (
        CompletedSession.objects.filter(state=SessionState.FAILED, finished_at__gte=now - LATELY)
        .values_list("reason")
        .annotate(times=Count("id"))
        .order_by("-times", "reason")
    )
    reasons = [f"{times} {reason}" for reason, times in failed]
    if reasons:
        return warn(
            "sessions",
            f"failed in the last 7 days: {', '.join(reasons)}",
            "Mend the cause, then retry them on the System page while their text is kept.",
        )
    return ok("sessions", "none failed in the last 7 days, none is lost")


def budgets_are_left(now: datetime) -> Finding:
    """No budget is used up."""
    reached = budgets.reached_budgets(now=now)
    if not reached:
        return ok("budgets", "none is used up")
    names = ", ".join(
        f"{budget.period} of {budget.agent or 'the deployment'}" for budget in reached
    )
    return warn("budgets", f"used up: {names}", "Raise it, or wait: MEMORY_OVER_BUDGET says how.")
