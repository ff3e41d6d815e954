"""Run a program of the product whose clock is off by what a file says, also when that changes.

    python tests/faults/moved_clock.py FILE -m uvicorn …
    python tests/faults/moved_clock.py FILE manage.py worker

`timezone.now` is what the product's one clock and Django read, `time.time` is under signatures and
caches. The database's clock stays, as that of another machine.
"""

from __future__ import annotations

import runpy
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

from django.utils import timezone

OFFSET = Path(sys.argv[1])


def offset() -> float:
    """Return how many seconds the clock is ahead."""
    return float(OFFSET.read_text(encoding="ascii"))


def move() -> None:
    """Put moved clocks in the place of the real ones."""
    real_now, real_time = timezone.now, time.time

    def now() -> datetime:
        return real_now() + timedelta(seconds=offset())

    timezone.now = now
    time.time = lambda: real_time() + offset()


if __name__ == "__main__":
    sys.path[0] = str(Path.cwd())
    move()
    sys.argv = sys.argv[2:]
    if sys.argv[0] == "-m":
        sys.argv = sys.argv[1:]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(sys.argv[0], run_name="__main__")
