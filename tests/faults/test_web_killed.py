"""A web process that is killed while it stores what somebody sent: sent again, it is there once."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
from contextlib import suppress

import pytest
from django.db import connection, transaction

from junior_memory.locks import lock, owner_lock
from junior_memory.models import Memory
from tests.api.conftest import Caller
from tests.cast import make_cast
from tests.factories import make_personal_token
from tests.faults.deployment import free_port
from tests.processes import ROOT, environment, wait_for

pytestmark = pytest.mark.django_db(transaction=True)

BODY = {"content": "Prefers tea.", "idempotencyKey": "k1"}
WAITING = """SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""


def test_what_a_killed_web_process_was_storing_is_there_once_when_it_is_sent_again() -> None:
    alice = make_cast().alice
    token, port = make_personal_token(alice), free_port()
    command = ["-m", "uvicorn", "junior_memory.asgi:application", "--port", str(port)]
    web = subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT,
        env=environment(MEMORY_EMBEDDER="none", AI_MEMORY_MODEL=""),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    said: list[int] = []

    def send() -> None:
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        with suppress(OSError, http.client.HTTPException):
            line.request("POST", "/api/plugins/memory/memories", json.dumps(BODY), headers)
            said.append(line.getresponse().status)

    sender = threading.Thread(target=send)
    try:
        wait_for(lambda: answers(port), seconds=60)
        with transaction.atomic():
            lock([owner_lock(alice.pk)])
            sender.start()
            wait_for(lambda: waits() > 0)
            web.kill()
            sender.join(30)
    finally:
        web.kill()
        web.wait(30)
    assert (said, Memory.objects.count()) == ([], 0)
    wait_for(lambda: waits() == 0)
    again = Caller(token=token).post("memories", BODY)
    assert again.status_code == 201
    assert Caller(token=token).post("memories", BODY).status_code == 200
    assert Memory.objects.count() == 1


def answers(port: int) -> bool:
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        line.request("GET", "/healthz")
        return line.getresponse().status == 200
    except OSError:
        return False
    finally:
        line.close()


def waits() -> int:
    with connection.cursor() as cursor:
        cursor.execute(WAITING)
        return int(cursor.fetchone()[0])
