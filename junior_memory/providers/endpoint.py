"""One request to an endpoint that speaks OpenAI's language: its bytes in time, or a reason.

Here alone the library's errors are read: their text holds what was sent and answered, so what goes
on from here is a word, a status, and which parameters were complained about.
"""

from __future__ import annotations

import json
import logging
import math
import re
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import httpx2
import openai

from junior_memory.providers.base import (
    FAILED,
    INVALID,
    NO_QUOTA,
    PAUSED,
    RATE_LIMITED,
    REFUSED,
    TIMEOUT,
    TOO_LONG,
    ModelFailed,
)
from junior_memory.providers.breaker import Breaker

LIBRARIES = ("openai", "httpx2", "httpcore2", "httpx", "httpcore")

MAX_ANSWER_BYTES = 32_000_000
MAX_TOKENS_COUNTED = 1_000_000_000
"""A larger count is a mistake of the server's, and more than a record holds."""

LATER = frozenset({408, 409, 429})
"""Refusals that may pass, besides the server's own failures."""

PARAMETERS = (
    "response_format",
    "json_schema",
    "json_object",
    "max_completion_tokens",
    "max_tokens",
)

_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size)|maximum context|prompt is too long|too many tokens", re.I
)
_FILTERED = ("content_filter", "content_policy_violation")

Send = Callable[[openai.OpenAI, float], AbstractContextManager[openai.APIResponse[Any]]]
"""One request, made with a client inside so many seconds."""


class RequestFailed(ModelFailed):
    """One request without a usable answer. `was_sent` is False when it was not even made."""

    def __init__(
        self,
        reason: str,
        *,
        status: int = 0,
        complaints: frozenset[str] = frozenset(),
        is_permanent: bool = False,
        retry_after_seconds: float | None = None,
        was_sent: bool = True,
    ) -> None:
        super().__init__(reason, is_permanent=is_permanent, retry_after_seconds=retry_after_seconds)
        self.status = status
        self.complaints = complaints
        self.was_sent = was_sent


def silence_libraries() -> None:
    """Keep the libraries from logging: at DEBUG they print bodies, whoever asked for it."""
    known = [name for name in logging.root.manager.loggerDict if name.startswith(LIBRARIES)]
    for name in {*known, *LIBRARIES}:
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.WARNING))


_breakers: defaultdict[tuple[str, str], Breaker] = defaultdict(Breaker)
"""By base URL and purpose: whoever asks the same endpoint for the same shares what is known."""


class Endpoint:
    """One base URL, asked for one purpose. Safe for many threads."""

    def __init__(self, *, api_key: str, base_url: str, purpose: str) -> None:
        silence_libraries()
        self._breaker = _breakers[base_url, purpose]
        # Attempts are counted by whoever asks, because each of them is on the record.
        self._client = openai.OpenAI(
            # An endpoint of one's own may ask for none; the library wants a word all the same.
            api_key=api_key or "none",
            base_url=base_url or None,
            max_retries=0,
            timeout=10,
        )

    def request(self, send: Send, *, timeout_seconds: float) -> dict[str, Any]:
        """Return the answer's JSON object; raises RequestFailed.

        The limit holds for all of it, also when the answer comes in drops.
        """
        if not self._breaker.lets(timeout_seconds):
            raise RequestFailed(PAUSED, was_sent=False)
        failure: RequestFailed
        try:
            raw = self._read(send, timeout_seconds)
        except openai.OpenAIError as error:
            failure = _failure(error)
        except httpx2.TimeoutException:
            failure = RequestFailed(TIMEOUT)
        except httpx2.HTTPError:
            failure = RequestFailed(FAILED)
        else:
            self._breaker.answered()
            return _object(raw)
        # Outside the handler: an error that holds the answer must not travel along as its context.
        if failure.reason == TIMEOUT:
            self._breaker.was_late(timeout_seconds)
        elif failure.status:
            self._breaker.answered()
        raise failure

    def _read(self, send: Send, timeout_seconds: float) -> bytes:
        ends_at = time.monotonic() + timeout_seconds
        read = bytearray()
        with send(self._client, timeout_seconds) as response:
            for piece in response.iter_bytes():
                read += piece
                if time.monotonic() > ends_at:
                    raise RequestTooSlow
                if len(read) > MAX_ANSWER_BYTES:
                    break
        return bytes(read)


class RequestTooSlow(httpx2.TimeoutException):
    """An answer that comes, but not in time."""

    def __init__(self) -> None:
        super().__init__("")


def _object(raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise RequestFailed(INVALID)
    return found


def _failure(error: openai.OpenAIError) -> RequestFailed:
    if isinstance(error, openai.APITimeoutError):
        return RequestFailed(TIMEOUT)
    if not isinstance(error, openai.APIStatusError):
        is_connection = isinstance(error, openai.APIConnectionError)
        return RequestFailed(FAILED, is_permanent=not is_connection)
    status = error.status_code
    body = error.body if isinstance(error.body, str) else json.dumps(error.body, default=str)
    reason = f"http_{status}"
    if status == 429:
        reason = NO_QUOTA if "insufficient_quota" in body else RATE_LIMITED
    elif status in {400, 413, 422} and _TOO_LONG.search(body):
        reason = TOO_LONG
    elif status in {400, 403} and any(word in body for word in _FILTERED):
        reason = REFUSED
    return RequestFailed(
        reason,
        status=status,
        complaints=frozenset(name for name in PARAMETERS if name in body),
        is_permanent=status not in LATER and status < 500,
        retry_after_seconds=_retry_after(error.response.headers.get("retry-after")),
    )


def _retry_after(value: str | None) -> float | None:
    """Read a delay in seconds; a date is no reason to wait longer than usual."""
    try:
        seconds = float(value or "")
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def tokens(usage: Any, *path: str) -> int | None:
    """Return a count of an answer's usage, None when it is not there or cannot be one."""
    found = usage
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    if isinstance(found, bool) or not isinstance(found, int):
        return None
    return found if 0 <= found <= MAX_TOKENS_COUNTED else None


def ms_since(begun: float) -> int:
    """Return the whole milliseconds since a moment of the monotonic clock."""
    return int((time.monotonic() - begun) * 1000)
