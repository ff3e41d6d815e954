"""Whoever reads an answer slowly, or not at all, keeps nothing from everybody else."""

from __future__ import annotations

import http.client
import socket
import subprocess
import sys

import pytest

from tests.cast import make_cast
from tests.factories import make_memory, make_personal_token
from tests.faults.deployment import free_port
from tests.processes import ROOT, environment, wait_for

pytestmark = pytest.mark.django_db(transaction=True)

CONNECTIONS = 3
LONG = "\N{GRINNING FACE}" * 3_900


def test_answers_that_nobody_reads_hold_no_connection_to_the_database() -> None:
    alice = make_cast().alice
    for number in range(50):
        make_memory(owner=alice, content=f"{number}: " + LONG)
    token, port = make_personal_token(alice), free_port()
    command = ["-m", "uvicorn", "junior_memory.asgi:application", "--port", str(port)]
    web = subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT,
        env=environment(
            MEMORY_EMBEDDER="none", AI_MEMORY_MODEL="", MEMORY_WEB_CONNECTIONS=str(CONNECTIONS)
        ),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    lines: list[socket.socket] = []
    try:
        wait_for(lambda: status(port, "/healthz") == 200, seconds=60)
        for _ in range(3 * CONNECTIONS):
            lines.append(ask_and_read_nothing(port, "/api/plugins/memory/memories?limit=50", token))
            lines.append(ask_and_read_nothing(port, "/api/plugins/memory/export", token))
        for line in lines:
            line.recv(1)  # Its answer has begun.
        assert status(port, "/api/plugins/memory/memories?limit=1", token) == 200
    finally:
        for line in lines:
            line.close()
        web.kill()
        web.wait(30)


def ask_and_read_nothing(port: int, path: str, token: str) -> socket.socket:
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    line.settimeout(20)
    line.connect(("127.0.0.1", port))
    line.sendall(
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    )
    return line


def status(port: int, path: str, token: str = "") -> int:
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        line.request("GET", path, headers=headers)
        answer = line.getresponse()
        answer.read()
        return answer.status
    except OSError:
        return 0
    finally:
        line.close()
