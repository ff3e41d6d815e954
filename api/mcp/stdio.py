"""The same messages, one a line, over the standard streams of a process that an assistant started.

Nothing but answers goes out on the wire. Whatever else is printed, by us or by a library, goes to
stderr, and programs that this process starts read nothing and write nothing there.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, BinaryIO

from django.db import InterfaceError, OperationalError, close_old_connections

from api.failures import Refused
from api.mcp.answering import answer
from api.mcp.asking import Claims, admit
from api.mcp.protocol import (
    Code,
    ProtocolError,
    answer_error,
    answer_result,
    check_envelope,
    read_json,
    read_message,
    readable_id,
)
from junior_memory.errors import JuniorMemoryError

logger = logging.getLogger(__name__)

AT_ONCE = 4
"""Requests that are answered at the same time; each has a database connection of its own."""

LONGEST_LINE = 2 * 1024 * 1024
"""Bytes of one message, as over HTTP."""


@contextmanager
def claimed_streams() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Take stdin and stdout for the protocol alone; give them back at the end."""
    wires = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        with (
            os.fdopen(wires[0], "rb", closefd=False) as heard,
            os.fdopen(wires[1], "wb", closefd=False) as said,
        ):
            yield heard, said
    finally:
        for wire, standard in zip(wires, (0, 1), strict=True):
            os.dup2(wire, standard)
            os.close(wire)


class Conversation:
    """Messages of one client with one token; each is judged anew, so a revoked token ends it."""

    def __init__(self, secret: str, claims: Claims, said: BinaryIO) -> None:
        self._secret = secret
        self._claims = claims
        self._said = said
        self._one_at_a_time = threading.Lock()

    def listen(self, heard: BinaryIO) -> None:
        """Answer every line until there are no more; what was begun is answered before."""
        pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="mcp")
        try:
            while line := heard.readline(LONGEST_LINE + 1):
                if len(line) > LONGEST_LINE:
                    self._skip(heard, line)
                elif line.strip():
                    pool.submit(self._hear, line)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
        pool.shutdown()

    def _skip(self, heard: BinaryIO, line: bytes) -> None:
        while line and not line.endswith(b"\n"):
            line = heard.readline(LONGEST_LINE)
        error = ProtocolError(Code.INVALID_REQUEST, "A message may have 2 MB at most.")
        self._say(answer_error(None, error))

    def _hear(self, line: bytes) -> None:
        close_old_connections()
        try:
            reply = self._reply(line)
        finally:
            close_old_connections()
        if reply is not None:
            self._say(reply)

    def _reply(self, line: bytes) -> dict[str, Any] | None:
        value: Any = None
        try:
            value = read_json(line)
            message = read_message(value)
            if message.id is None:
                return None
            if message.is_stateless:
                check_envelope(message, None)
            asker = admit(self._secret, self._claims)
            asker.spend(is_write=False)
            return answer_result(message, answer(message, asker))
        except ProtocolError as error:
            return answer_error(readable_id(value), error)
        except (Refused, JuniorMemoryError) as error:
            return _refusal(value, error.code, error.message)
        except (OperationalError, InterfaceError) as error:
            logger.error("the database does not answer (%s)", type(error).__name__)
            return _refusal(value, "unavailable", "The service cannot answer just now; try again.")
        except Exception as error:  # noqa: BLE001 - nobody else sees it, and the client would wait
            logger.error("a call failed (%s)", type(error).__name__)
            fault = ProtocolError(Code.INTERNAL, "Something went wrong here.")
            return answer_error(readable_id(value), fault)

    def _say(self, reply: dict[str, Any]) -> None:
        line = json.dumps(reply, separators=(",", ":")).encode() + b"\n"
        with self._one_at_a_time:
            self._said.write(line)
            self._said.flush()


def _refusal(value: Any, code: str, message: str) -> dict[str, Any]:
    """Return what HTTP would say by a status."""
    return answer_error(
        readable_id(value), ProtocolError(Code.REFUSED, message, data={"code": code})
    )
