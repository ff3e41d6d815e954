"""A body that is too large is not kept on disk first, declared or not, whoever sends it."""

from __future__ import annotations

import asyncio
import http.client
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.conf import settings

from api.bodies import IMPORT_BODY, SESSION_BODY
from junior_memory import body_limit
from junior_memory.body_limit import IMPORT_LIMIT, IMPORTS, LIMIT, MEGABYTE, BodyLimit
from tests.api.mcp_calls import web_processes


class Sender:
    """Sends a body in pieces of a megabyte, and counts what is taken of it."""

    def __init__(self, size: int, *, declared: int | None = None) -> None:
        self.left, self.taken = size, 0
        self.declared = declared
        self.statuses: list[int] = []

    async def receive(self) -> dict[str, Any]:
        piece = min(self.left, MEGABYTE)
        self.left -= piece
        self.taken += piece
        return {"type": "http.request", "body": b"x" * piece, "more_body": self.left > 0}

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.statuses.append(message["status"])

    def ask(self, path: str) -> int:
        """Let an application that reads everything answer 200; return the status."""
        length = [] if self.declared is None else [(b"content-length", b"%d" % self.declared)]
        scope = {"type": "http", "path": path, "headers": length}
        # In a thread: a browser's test before this one may have left a loop running in ours.
        with ThreadPoolExecutor(1) as apart:
            asked = BodyLimit(read_all)(scope, self.receive, self.send)
            apart.submit(asyncio.run, asked).result()
        (status,) = self.statuses
        return status


async def read_all(_scope: Any, receive: Any, send: Any) -> None:
    while (await receive())["more_body"]:
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.mark.parametrize(("path", "limit"), [("/sign-in", LIMIT), (min(IMPORTS), IMPORT_LIMIT)])
def test_what_is_too_large_is_read_no_further(path: str, limit: int) -> None:
    assert Sender(limit).ask(path) == 200
    undeclared = Sender(limit * 3)
    assert undeclared.ask(path) == 413
    assert undeclared.taken <= limit + MEGABYTE
    declared = Sender(limit * 3, declared=limit * 3)
    assert declared.ask(path) == 413
    assert declared.taken == 0
    liar = Sender(limit * 3, declared=10)
    assert liar.ask(path) == 413


def test_every_call_takes_what_it_promises() -> None:
    assert max(SESSION_BODY.max_bytes, settings.DATA_UPLOAD_MAX_MEMORY_SIZE) < body_limit.LIMIT
    assert IMPORT_BODY.max_bytes < body_limit.IMPORT_LIMIT


@pytest.fixture
def address(transactional_db: None) -> Iterator[tuple[str, int]]:
    with web_processes() as (url, _log):
        host, port = url.removeprefix("http://").split(":")
        yield host, int(port)


def test_the_web_process_itself_refuses_a_stranger_s_gigabyte(address: tuple[str, int]) -> None:
    for path in ("/sign-in", "/api/plugins/memory/memories", "/settings/import", "/nowhere"):
        line = http.client.HTTPConnection(*address, timeout=30)
        line.putrequest("POST", path)
        line.putheader("Content-Length", str(1024 * MEGABYTE))
        line.putheader("Content-Type", "multipart/form-data; boundary=x")
        line.endheaders()
        answer = line.getresponse()
        assert answer.status == 413, path
        assert b"too_large" in answer.read()
        line.close()
