"""Is the database away, or is something wrong with what it was asked?"""

from __future__ import annotations

import psycopg
from django.db import InterfaceError, OperationalError

AWAY = frozenset({"08", "53", "57", "58"})
"""SQLSTATE classes of a server that is away, full, or being stopped; and of its disk."""

IN_THE_WAY = frozenset({"40001", "40P01", "55P03"})
"""Somebody else was in the way: serialization, deadlock, a lock that did not come free."""

OUR_LIMIT = "57014"
"""A statement that took too long: that is about the statement."""


def is_database_away(error: BaseException) -> bool:
    """True when the same work may succeed once the database is itself again.

    True also without any word of the server: then there was none to talk to.
    """
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    cause = error.__cause__
    state = cause.sqlstate if isinstance(cause, psycopg.Error) else None
    if state is None:
        return True
    return (state[:2] in AWAY and state != OUR_LIMIT) or state in IN_THE_WAY
