"""Time limits that hold when the database is slow, locked, silent or gone."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from django.db import DatabaseError, OperationalError, connection, connections

from junior_memory import people
from junior_memory.access import Source, Viewer
from junior_memory.deadlines import Deadline, DeadlinePassed, held_to, raw_connection
from junior_memory.errors import Unavailable
from junior_memory.models import ConversationEvent, MemoryUse
from junior_memory.recall import RecallRequest, recall
from junior_memory.search import search_memories
from tests.factories import UserFactory, make_memory
from tests.processes import wait_for

SLACK_MS = 1_500
"""What a busy machine may add before a thread that is due gets its turn; what is not waited for in
these tests takes far longer."""

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def fresh_connection() -> Iterator[None]:
    """Begin and end without an open connection."""
    connection.close()
    yield
    connection.close()


def request_for(deadline_ms: int) -> RecallRequest:
    agent, _ = people.agent_named("default")
    user = UserFactory.create()
    make_memory(content="Prefers oolong tea.", owner=user)
    return RecallRequest(
        viewer=Viewer(user=user, agent=agent),
        agent=agent,
        conversation_id="c1",
        source=Source(platform="web", visibility="private"),
        text="Which oolong tea?",
        deadline_ms=deadline_ms,
    )


def sleep_without_limit() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute("SELECT pg_sleep(5)")


def timed(request: RecallRequest) -> tuple[Any, float]:
    begin = time.monotonic()
    answer = recall(request)
    return answer, (time.monotonic() - begin) * 1000


@contextmanager
def locked_table(name: str) -> Iterator[None]:
    """Hold a table on another connection, as a migration would."""
    locked, release = threading.Event(), threading.Event()

    def hold() -> None:
        with connection.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute(f"LOCK TABLE {name} IN ACCESS EXCLUSIVE MODE")
            locked.set()
            release.wait(10)
            cursor.execute("ROLLBACK")
        connections.close_all()

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert locked.wait(10)
        yield
    finally:
        release.set()
        holder.join()


def test_a_locked_table_means_nothing_in_time_and_recall_recovers() -> None:
    request = request_for(400)
    with locked_table("junior_memory_memory"):
        answer, took_ms = timed(request)
    assert (answer.timed_out, answer.prompt, answer.memories) == (True, None, ())
    assert took_ms < 400 + SLACK_MS
    assert recall(replace(request, deadline_ms=10_000)).memories


def test_a_server_that_ignores_its_own_limit_is_cut_off(fresh_connection: None) -> None:
    begin = time.monotonic()
    with pytest.raises(DeadlinePassed), held_to(Deadline.after(300)):
        sleep_without_limit()
    assert (time.monotonic() - begin) * 1000 < 300 + SLACK_MS
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def test_a_server_that_stops_answering_means_nothing_in_time() -> None:
    request = request_for(400)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid(), inet_server_addr() IS NULL")
        pid, is_here = cursor.fetchone()
    if not is_here:
        pytest.skip("the server is another machine's")
    wake = threading.Timer(5, os.kill, [pid, signal.SIGCONT])
    os.kill(pid, signal.SIGSTOP)
    wake.start()
    try:
        answer, took_ms = timed(request)
    finally:
        wake.cancel()
        os.kill(pid, signal.SIGCONT)
    assert (answer.timed_out, answer.prompt, answer.memories) == (True, None, ())
    assert took_ms < 400 + SLACK_MS
    assert recall(replace(request, deadline_ms=10_000)).memories


def test_a_connection_that_never_opens_means_nothing_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    request = request_for(300)
    connection.close()
    wrapper = connections["default"]
    opened = threading.Event()

    def silent(*_: object) -> None:
        opened.wait(5)
        raise OperationalError("too late")

    with monkeypatch.context() as patch:
        patch.setattr(type(connections["default"]), "get_new_connection", silent)
        answer, took_ms = timed(request)
        opened.set()
    assert (answer.timed_out, answer.memories) == (True, ())
    assert took_ms < 300 + SLACK_MS
    assert recall(replace(request, deadline_ms=10_000)).memories
    # The test run ends with the wrapper that it began with.
    connections["default"].close()
    connections["default"] = wrapper


def test_a_database_that_is_gone_is_unavailable_for_recall_and_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    request = request_for(1500)
    connection.close()

    def refused(*_: object) -> None:
        raise OperationalError("connection refused")

    with monkeypatch.context() as patch:
        patch.setattr(type(connections["default"]), "get_new_connection", refused)
        with pytest.raises(Unavailable):
            recall(request)
        with pytest.raises(Unavailable):
            search_memories(request.viewer, "oolong")
    assert search_memories(request.viewer, "oolong").hits


def test_a_connection_cut_while_reading_is_unavailable_and_recovers() -> None:
    request = request_for(1500)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()

    def cut() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
        connections.close_all()

    # As in the middle of a request: the check at its beginning is over.
    connection.health_check_done = True  # type: ignore[attr-defined]
    killer = threading.Thread(target=cut)
    killer.start()
    killer.join()
    with pytest.raises(Unavailable):
        recall(request)
    connection.close_if_unusable_or_obsolete()
    assert recall(replace(request, deadline_ms=10_000)).memories


def test_a_locked_event_table_delays_no_answer_and_the_event_is_written_after() -> None:
    request = request_for(5_000)
    with locked_table("junior_memory_conversationevent"):
        answer, took_ms = timed(request)
    assert answer.memories
    assert took_ms < 1_500, "it waited for its record"
    wait_for(lambda: ConversationEvent.objects.filter(name="memories_recalled").exists())
    wait_for(lambda: MemoryUse.objects.exists())


def test_a_connection_that_opens_too_late_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    request = request_for(300)
    connection.close()
    wrapper = connections["default"]
    backend = type(wrapper)
    original = backend.get_new_connection
    late = threading.Event()

    def slow(self: Any, params: Any) -> Any:
        late.wait(5)
        return original(self, params)

    with monkeypatch.context() as patch:
        patch.setattr(backend, "get_new_connection", slow)
        answer, _ = timed(request)
        assert answer.timed_out
        late.set()
        (connecting,) = [one for one in threading.enumerate() if one.name == "connect"]
        connecting.join(10)
    assert wrapper.connection is None, "kept by a thread that nobody waits for"
    connections["default"].close()
    connections["default"] = wrapper


def test_a_connection_cut_between_statements_is_not_lent_again() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    raw = raw_connection()

    def oversleep() -> None:
        time.sleep(0.4)
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")

    with pytest.raises((DeadlinePassed, DatabaseError)), held_to(Deadline.after(150)):
        oversleep()
    assert raw.closed
