"""Stops asking an endpoint that hangs: after a few time limits in a row nobody waits for a while.

One patience does not speak for another: a recall that gives an endpoint half a second does not keep
an extraction from giving it a minute. State is of this process.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

PATIENCE = 3
"""Time limits in a row after which an endpoint counts as hanging."""

CLEARLY_MORE = 1.25
"""How many times as long as those who gave up one has to wait to be let through all the same."""

PAUSE_SECONDS = 15.0
"""How long it is left alone; then one request finds out, and the rest waits for what it finds."""


class Breaker:
    """What is known of one endpoint. Safe for many threads."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._late = 0
        self._waited = 0.0
        self._paused_until = 0.0

    def lets(self, timeout_seconds: float) -> bool:
        """True when a request may be made that waits that long."""
        with self._lock:
            now = self._clock()
            if self._late < PATIENCE or timeout_seconds > self._waited * CLEARLY_MORE:
                return True
            if now < self._paused_until:
                return False
            self._paused_until = now + PAUSE_SECONDS
            return True

    def was_late(self, timeout_seconds: float) -> None:
        """Note a time limit that passed without an answer."""
        with self._lock:
            self._late += 1
            self._waited = max(self._waited, timeout_seconds)
            if self._late >= PATIENCE:
                self._paused_until = self._clock() + PAUSE_SECONDS

    def answered(self) -> None:
        """Note an answer, of whatever kind: it does not hang."""
        with self._lock:
            self._late, self._waited, self._paused_until = 0, 0.0, 0.0
