"""Is the process there, and can it do its work? Asked by machines, answered to anybody."""

from datetime import datetime, timedelta

from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse

from api.edge import guarded, not_allowed
from api.failures import answer_failure
from junior_memory import clock, embedder_health, reports

WORKER_SEEN_SECONDS = 60
"""A worker writes its heartbeat every 10 s; after six missing ones it counts as gone."""


@guarded
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer 200 as long as the process answers at all; asks nothing else."""
    if request.method != "GET":
        return not_allowed("GET")
    return JsonResponse({"status": "ok"})


@guarded
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 when calls are served and sessions processed, else 503 with what is missing."""
    if request.method != "GET":
        return not_allowed("GET")
    checks = check_readiness(now=clock.now())
    missing = {name: state for name, state in checks.items() if state != "ok"}
    if missing:
        answer = answer_failure(503, "not_ready", "Not ready to serve.", fields=missing)
        # Whoever starts a deployment asks every moment; that it is not ready yet is no error.
        vars(answer)["_has_been_logged"] = True
        return answer
    return JsonResponse({"status": "ready", "checks": checks})


def check_readiness(*, now: datetime) -> dict[str, str]:
    """Return each check with "ok" or what is wrong; the database comes first, the rest needs it."""
    try:
        connection.ensure_connection()
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except (DatabaseError, InterfaceError):
        return {"database": "does not answer"}
    return {
        "database": "ok",
        "migrations": _migrations(),
        "embedder": _embedder(),
        "worker": _worker(now),
    }


def _migrations() -> str:
    executor = MigrationExecutor(connection)
    waiting = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    return f"{waiting} not applied" if waiting else "ok"


def _embedder() -> str:
    try:
        fault = embedder_health.fault()
    except DatabaseError:
        return "its tables are missing"
    return fault.text if fault else "ok"


def _worker(now: datetime) -> str:
    try:
        seen = reports.worker_seen_at()
    except DatabaseError:
        return "its tables are missing"
    if seen is None or now - seen > timedelta(seconds=WORKER_SEEN_SECONDS):
        return "not seen lately"
    return "ok"
