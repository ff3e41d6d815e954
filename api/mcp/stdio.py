"""The same messages, one a line, over the streams of a process that an assistant has started."""

from __future__ import annotations

import json
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO

from django.db import InterfaceError, OperationalError, connections

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
        try:
            reply = self._reply(line)
        finally:
            # An assistant is open all day and asks now and then: it holds no connection meanwhile.
            connections.close_all()
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
