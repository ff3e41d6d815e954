"""Windows of days: UTC, gap-free, ending today."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

WINDOWS = (7, 30, 90)
"""Days that a chart may show (CONFORMANCE 1.6)."""


def days_until(now: datetime, days: int) -> list[date]:
    """Return the last `days` UTC days, oldest first, today last."""
    today = now.astimezone(UTC).date()
    return [today - timedelta(days=back) for back in range(days - 1, -1, -1)]


def start_of(day: date) -> datetime:
    """Return when a UTC day begins."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def end_of(day: date) -> datetime:
    """Return the last moment of a UTC day that is stored apart from the next day's first."""
    return start_of(day) + timedelta(days=1) - timedelta(microseconds=1)


def since_of(now: datetime, days: int) -> datetime:
    """Return when the first of the last `days` UTC days began."""
    return start_of(days_until(now, days)[0])
