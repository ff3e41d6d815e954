"""The one clock. Every `now` argument defaults to it; tests pass their own moment instead.

`at` sets it for one context: the demo lives through three months of history with it, and nothing
else may (an architecture test says so).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import MAXYEAR, MINYEAR, UTC, datetime

from django.utils import timezone

_injected: ContextVar[datetime | None] = ContextVar("injected_now", default=None)


def now() -> datetime:
    """Return the present moment, in UTC."""
    return _injected.get() or timezone.now()


def representable(moment: datetime) -> bool:
    """True when a moment has a date in every zone: it is stored in one and read in any."""
    try:
        return MINYEAR < moment.astimezone(UTC).year < MAXYEAR
    except (OverflowError, ValueError):
        return False


@contextmanager
def at(moment: datetime) -> Iterator[None]:
    """Let this be the present moment for everything called inside."""
    token = _injected.set(moment)
    try:
        yield
    finally:
        _injected.reset(token)
