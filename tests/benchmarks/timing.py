"""How long ways to answer take: on the clock, and of the processors that work on it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from django.db import connection

Answer = TypeVar("Answer")


@dataclass
class Times:
    """Milliseconds of one way to answer: of the clock, and of the processors that worked on it."""

    values: list[float] = field(default_factory=list)
    worked: list[float] = field(default_factory=list)

    def of(self, work: Callable[[], Answer]) -> Answer:
        """Time one call on this thread's connection."""
        begin, worked = time.perf_counter(), _worked_ms()
        try:
            return work()
        finally:
            self.values.append((time.perf_counter() - begin) * 1000)
            self.worked.append(_worked_ms() - worked)

    def add(self, other: Times) -> None:
        """Take in the times of a group."""
        self.values += other.values
        self.worked += other.worked

    def as_share_of(self, other: Times) -> str:
        """Say how both medians compare."""
        clock = other.p50 / self.p50
        processor = statistics.median(other.worked) / max(0.001, statistics.median(self.worked))
        return f"p50 1/{clock:.1f} (1/{processor:.1f} in processor time)"

    @property
    def p50(self) -> float:
        return statistics.median(self.values)

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.values, n=20)[-1]

    @property
    def on_clock(self) -> str:
        """The times of the clock alone: of work that several connections share."""
        return f"p50 {self.p50:.1f} p95 {self.p95:.1f} ms"

    def __str__(self) -> str:
        worked = statistics.median(self.worked)
        return f"{self.on_clock} (processor p50 {worked:.1f})"


def _worked_ms() -> float:
    """Return the processor time of this process and of the one that serves its connection.

    The latter's where it can be read: on Linux, from a server on this machine.
    """
    mine = time.process_time() * 1000
    raw = connection.connection
    if raw is None or not str(connection.get_connection_params().get("host", "")).startswith("/"):
        return mine
    with suppress(OSError):
        spent = Path(f"/proc/{raw.info.backend_pid}/schedstat").read_text(encoding="ascii")
        return mine + int(spent.split()[0]) / 1e6
    return mine
