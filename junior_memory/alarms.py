"""Something to do at a moment, unless it was called off: one thread for all of a process.

A thread of its own for each (`threading.Timer`) starts and ends for nothing nearly every time, and
its start is waited for: a recall sets eight.
"""

from __future__ import annotations

import heapq
import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

logger = logging.getLogger(__name__)


@dataclass(order=True, slots=True)
class Alarm:
    """One thing to do, at `at` on the monotonic clock."""

    at: float
    number: int
    ring: Callable[[], None] | None = field(compare=False)

    def call_off(self) -> None:
        """Forget what was to be done; what has begun is not stopped."""
        self.ring = None


class _Alarms:
    """The alarms of one process. Safe for many threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._set: list[Alarm] = []
        self._number = 0
        self._thread: threading.Thread | None = None

    def set(self, at: float, ring: Callable[[], None]) -> Alarm:
        with self._changed:
            self._number += 1
            alarm = Alarm(at, self._number, ring)
            heapq.heappush(self._set, alarm)
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="alarms", daemon=True)
                self._thread.start()
            elif self._set[0] is alarm:
                self._changed.notify()
        return alarm

    def _watch(self) -> None:
        while True:
            try:
                self._next()()
            except Exception as error:  # noqa: BLE001 - the next ones are to ring all the same
                logger.error("an alarm failed (%s)", type(error).__name__)

    def _next(self) -> Callable[[], None]:
        """Wait for the first alarm that was not called off."""
        with self._changed:
            while True:
                while self._set and self._set[0].ring is None:
                    heapq.heappop(self._set)
                if not self._set:
                    self._changed.wait()
                    continue
                left = self._set[0].at - time.monotonic()
                if left > 0:
                    self._changed.wait(left)
                    continue
                ring = heapq.heappop(self._set).ring
                if ring is not None:
                    return ring


_alarms = _Alarms()


def _begin_anew() -> None:
    """Start without the parent's alarms: its thread does not come along."""
    global _alarms
    _alarms = _Alarms()


os.register_at_fork(after_in_child=_begin_anew)


def set_alarm(at: float, ring: Callable[[], None]) -> Alarm:
    """Have `ring` called at a moment of the monotonic clock, in a thread that is everybody's.

    It must be quick: others wait behind it.
    """
    return _alarms.set(at, ring)
