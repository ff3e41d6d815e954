"""Fifty at once against a live server: one row, one event, and no error."""

from __future__ import annotations

import http.client
import json
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest
from procrastinate.contrib.django.models import ProcrastinateJob
from pytest_django.live_server_helper import LiveServer

from junior_memory import sessions
from junior_memory.models import CompletedSession, ConversationEvent, Memory, RetryKey
from tests.api.bodies import session
from tests.api.conftest import BASE
from tests.cast import Cast, make_cast
from tests.factories import make_agent_token, make_personal_token

pytestmark = pytest.mark.django_db(transaction=True)

AT_ONCE = 50


@pytest.fixture
def people_here(transactional_db: None) -> Cast:
    return make_cast()


def fire(server: LiveServer, token: str, path: str, bodies: list[Any]) -> list[tuple[int, Any]]:
    """Send all bodies at once, over connections that are open already; return every answer."""
    where = urlsplit(server.url)
    together = threading.Barrier(len(bodies))
    connections = [
        http.client.HTTPConnection(where.hostname or "", where.port, timeout=60) for _ in bodies
    ]
    for connection in connections:
        connection.connect()

    def send(connection: http.client.HTTPConnection, body: Any) -> tuple[int, Any]:
        try:
            together.wait()
            connection.request(
                "POST",
                f"{BASE}/{path}",
                json.dumps(body),
                {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
            )
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    with ThreadPoolExecutor(len(bodies)) as pool:
        return list(pool.map(send, connections, bodies))


def test_fifty_identical_creates_leave_one_row(live_server: LiveServer, people_here: Cast) -> None:
    token = make_personal_token(people_here.alice)
    body = {"content": "Prefers tea.", "idempotencyKey": "k1"}
    answers = fire(live_server, token, "memories", [body] * AT_ONCE)
    assert Counter(status for status, _ in answers) == {201: 1, 200: AT_ONCE - 1}
    assert len({answer["id"] for _, answer in answers}) == 1
    assert Memory.objects.count() == 1
    assert RetryKey.objects.count() == 1


def test_fifty_creates_of_one_text_under_fifty_keys_leave_one_row(
    live_server: LiveServer, people_here: Cast
) -> None:
    token = make_personal_token(people_here.alice)
    bodies = [{"content": "Prefers tea.", "idempotencyKey": f"k{n}"} for n in range(AT_ONCE)]
    answers = fire(live_server, token, "memories", bodies)
    assert Counter(status for status, _ in answers) == {201: 1, 200: AT_ONCE - 1}
    assert Memory.objects.count() == 1


def test_fifty_posts_of_one_session_leave_one_job_and_one_event(
    live_server: LiveServer, people_here: Cast
) -> None:
    token = make_agent_token(people_here.agent)[1]
    answers = fire(live_server, token, "sessions", [session()] * AT_ONCE)
    assert Counter(status for status, _ in answers) == {202: 1, 200: AT_ONCE - 1}
    row = CompletedSession.objects.get()
    assert ProcrastinateJob.objects.filter(task_name="process_session").count() == 1
    for _ in range(2):
        sessions.process_session(row.pk)
    assert ConversationEvent.objects.count() == 1
    assert Memory.objects.count() == 1


def test_fifty_forgettings_of_one_memory_forget_it_once(
    live_server: LiveServer, people_here: Cast
) -> None:
    token = make_personal_token(people_here.alice)
    ((_, made),) = fire(live_server, token, "memories", [{"content": "Prefers tea."}])
    body = {"ids": [made["id"]]}
    answers = fire(live_server, token, "memories/forget", [body] * AT_ONCE)
    assert {status for status, _ in answers} == {200}
    assert sum(len(answer["forgotten"]) for _, answer in answers) == 1
