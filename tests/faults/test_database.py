"""A database that hangs up, or lets everybody wait: what one call is told, and the next one."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import OperationalError, close_old_connections, connection, transaction
from django.db.utils import ConnectionHandler
from django.test import Client
from psycopg import sql

from junior_memory.database.base import DatabaseWrapper
from junior_memory.locks import lock, owner_lock
from junior_memory.models import Agent, CompletedSession, Memory, User
from tests.api.bodies import question, session
from tests.api.conftest import Caller, assert_fails
from tests.cast import make_cast
from tests.factories import make_agent_token, make_personal_token
from tests.processes import wait_for

pytestmark = pytest.mark.django_db(transaction=True)

FULL = """
CREATE FUNCTION disk_is_full() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'disk_full'; END $$;
CREATE TRIGGER full_queue BEFORE INSERT ON procrastinate_jobs
    FOR EACH ROW EXECUTE FUNCTION disk_is_full()
"""


@pytest.fixture
def alice() -> User:
    return make_cast().alice


@contextmanager
def held(name: str) -> Iterator[None]:
    """Let somebody else hold a lock, on a connection of their own, until the block ends."""
    taken, over = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            lock([name])
            taken.set()
            over.wait(30)
        connection.close()

    thread = threading.Thread(target=hold)
    thread.start()
    assert taken.wait(10)
    try:
        yield
    finally:
        over.set()
        thread.join()


def limited(milliseconds: int) -> DatabaseWrapper:
    """Return a connection to the test's database as a web process makes it."""
    settings = connection.settings_dict | {"LOCK_TIMEOUT_MS": milliseconds}
    wrapper = ConnectionHandler({"default": settings})["default"]
    assert isinstance(wrapper, DatabaseWrapper)
    return wrapper


def test_a_web_process_waits_for_no_lock_for_ever(alice: User) -> None:
    wrapper = limited(200)
    try:
        with held(owner_lock(alice.pk)), wrapper.cursor() as cursor:
            cursor.execute("SHOW lock_timeout")
            assert cursor.fetchone()[0] == "200ms"
            with pytest.raises(OperationalError):
                cursor.execute(
                    "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [owner_lock(alice.pk)]
                )
    finally:
        wrapper.close()


def test_whoever_waits_too_long_for_a_lock_is_told_when_to_come_again(alice: User) -> None:
    caller = Caller(token=make_personal_token(alice))
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = 100")
    body = {"content": "Prefers tea.", "idempotencyKey": "k1"}
    try:
        with held(owner_lock(alice.pk)):
            assert_fails(caller.post("memories", body), 503, "unavailable")
            assert caller.get("memories").status_code == 200
        assert caller.post("memories", body).status_code == 201
    finally:
        connection.close()
    assert Memory.objects.count() == 1


def test_a_session_whose_job_finds_no_room_on_the_disk_is_503_and_leaves_nothing() -> None:
    host = Caller(token=make_agent_token(make_cast().agent)[1])
    with full_queue():
        assert_fails(host.post("sessions", session()), 503, "unavailable")
    assert CompletedSession.objects.count() == 0
    assert host.post("sessions", session()).status_code == 202


def test_a_fact_whose_job_finds_no_room_on_the_disk_is_stored_without_its_vector(
    alice: User, settings: Any
) -> None:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"embedder": "openai", "openai_api_key": "k"}
    caller = Caller(token=make_personal_token(alice))
    with full_queue():
        assert caller.post("memories", {"content": "Prefers tea."}).status_code == 201
    assert Memory.objects.count() == 1


@contextmanager
def full_queue() -> Iterator[None]:
    """Let the server refuse jobs as it does when its disk is full, until the block ends."""
    with connection.cursor() as cursor:
        cursor.execute(FULL)
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION disk_is_full CASCADE")


def test_a_call_whose_connection_was_cut_is_503_and_the_next_one_is_served(alice: User) -> None:
    caller = Caller(token=make_personal_token(alice))
    body = {"content": "Prefers tea.", "idempotencyKey": "k1"}
    cut = limited(0)
    try:
        with cut.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
    finally:
        cut.close()
    assert_fails(caller.post("memories", body), 503, "unavailable")
    close_old_connections()  # As after every answer that is really sent.
    assert caller.post("memories", body).status_code == 201
    assert Memory.objects.count() == 1


@contextmanager
def crowded(settings_dict: dict[str, Any]) -> Iterator[DatabaseWrapper]:
    """Let this process connect as somebody whose every connection others hold.

    The server refuses the next one as it does when it has none left for anybody. Yields the one
    that others hold.
    """
    usual, where = dict(settings_dict), connection.get_connection_params()
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        role, owner = f"crowded_{os.getpid()}", cursor.fetchone()[0]
        made = "CREATE ROLE {} LOGIN CONNECTION LIMIT 1 IN ROLE {} PASSWORD {}"
        names = sql.Identifier(role), sql.Identifier(owner), sql.Literal(usual["PASSWORD"] or None)
        cursor.execute(sql.SQL(made).format(*names).as_string(cursor.connection))
    connection.close()
    settings_dict |= {
        "EMBEDDED_DIR": None,
        "HOST": where["host"],
        "PORT": where.get("port", ""),
        "USER": role,
    }
    others = ConnectionHandler({"default": dict(settings_dict)})["default"]
    assert isinstance(others, DatabaseWrapper)
    try:
        others.ensure_connection()
        yield others
    finally:
        others.close()
        settings_dict |= usual
        connection.close()
        with connection.cursor() as cursor:
            cursor.execute(f"DROP ROLE {role}")


def test_while_others_hold_every_connection_all_is_503_and_then_all_is_well(alice: User) -> None:
    caller, browser = Caller(token=make_personal_token(alice)), Client()
    host = Caller(token=make_agent_token(Agent.objects.get(name="default"))[1])
    browser.force_login(alice)
    body = {"content": "Prefers tea.", "idempotencyKey": "k1"}
    with crowded(connection.settings_dict) as others:
        assert_fails(caller.post("memories", body), 503, "unavailable")
        assert_fails(caller.get("memories?q=tea"), 503, "unavailable")
        begun = time.monotonic()
        assert_fails(host.post("recall", question("Tea?") | {"deadlineMs": 800}), 503)
        assert time.monotonic() - begun < 0.8
        assert_fails(host.post("sessions", session()), 503, "unavailable")
        page = browser.get("/memories")
        assert (page.status_code, "Retry-After" in page.headers) == (503, True)
        assert browser.get("/readyz").status_code == 503
        assert browser.get("/healthz").status_code == 200
        others.close()
        wait_for(lambda: caller.post("memories", body).status_code == 201)
        assert browser.get("/memories").status_code == 200
        assert host.post("sessions", session()).status_code == 202
    assert Memory.objects.count() == 1
