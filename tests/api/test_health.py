"""GET /healthz and /readyz."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.utils import timezone
from procrastinate.contrib.django.models import ProcrastinateWorker

from tests.api.conftest import Caller, assert_fails, json_of


def worker_seen(seconds_ago: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM procrastinate_workers")
        cursor.execute(
            "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (%s)",
            [timezone.now() - timedelta(seconds=seconds_ago)],
        )


def test_healthz_answers_without_asking_anything(
    nobody: Caller, django_assert_num_queries: pytest.FixtureRequest
) -> None:
    with django_assert_num_queries(0):  # type: ignore[operator]
        assert json_of(nobody.get("/healthz")) == {"status": "ok"}
    assert nobody.call("HEAD", "/healthz").content == b""
    assert_fails(nobody.post("/healthz"), 405)


def test_readyz_is_ready_when_a_worker_was_seen_lately(nobody: Caller) -> None:
    worker_seen(5)
    body = json_of(nobody.get("/readyz"))
    assert body["status"] == "ready"
    assert set(body["checks"]) == {"database", "migrations", "embedder", "worker"}
    assert nobody.call("HEAD", "/readyz").status_code == 200


def test_readyz_names_what_is_missing(nobody: Caller) -> None:
    for age in (None, 300):
        if age is not None:
            worker_seen(age)
        error = assert_fails(nobody.get("/readyz"), 503, "not_ready")
        assert error["fields"] == {"worker": "not seen lately"}
    assert ProcrastinateWorker.objects.count() == 1


def test_readyz_says_when_the_database_is_gone(
    nobody: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> None:
        raise OperationalError

    with monkeypatch.context() as patch:
        patch.setattr(connection, "ensure_connection", gone)
        error = assert_fails(nobody.get("/readyz"), 503, "not_ready")
    assert error["fields"] == {"database": "does not answer"}
    json_of(nobody.get("/healthz"))
