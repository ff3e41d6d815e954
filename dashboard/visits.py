"""Since when what a person sees is new to them. Reading a page may write this one moment."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils.dateparse import parse_datetime

from dashboard.http import HtmxHttpRequest
from junior_memory.models import User

PAUSE = timedelta(minutes=30)
"""A visit ends when nothing was asked for so long."""

WRITE_EVERY = timedelta(minutes=1)

SINCE = "new_since"
"""In the session: when the visit before this one ended."""


def new_since(request: HtmxHttpRequest, *, now: datetime) -> datetime | None:
    """Return when the person's visit before this one ended, or None on the first.

    Notes that they are here, at most once a minute.
    """
    user, seen = request.user, request.user.last_visit_at
    known = request.session.get(SINCE)
    if seen is None or now - seen > PAUSE or known is None:
        known = seen.isoformat() if seen else ""
        request.session[SINCE] = known
    if seen is None or now - seen > WRITE_EVERY:
        User.objects.filter(pk=user.pk).update(last_visit_at=now)
    return parse_datetime(known) if known else None
