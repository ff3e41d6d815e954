"""Small writes that could not be made: made as soon as the database can be written again.

For what must not be lost with a connection, and what nobody waits for: records of paid calls, ends
of claims. They live in this process alone, so each has to be safe to lose and to repeat.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable

from django.db import Error, InterfaceError, OperationalError, connections

logger = logging.getLogger(__name__)

Write = Callable[[], object]

MOST = 10_000
"""Writes that are kept; the oldest go first."""

FIRST_REST_SECONDS = 0.5
LONGEST_REST_SECONDS = 5.0

_owed: deque[Write] = deque(maxlen=MOST)
_guard = threading.Lock()
_payer: threading.Thread | None = None


def owe(write: Write) -> None:
    """Let this be written later, on a connection of its own; `write` must be safe to repeat."""
    global _payer
    with _guard:
        _owed.append(write)
        if _payer is None or not _payer.is_alive():
            _payer = threading.Thread(target=_pay, name="owed writes", daemon=True)
            _payer.start()


def settled(*, seconds: float) -> bool:
    """Wait until nothing is owed any more; False when something still is after that long."""
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at:
        with _guard:
            if not _owed:
                return True
        time.sleep(0.02)
    return False


def _pay() -> None:
    global _payer
    rest, written = FIRST_REST_SECONDS, 0
    while True:
        time.sleep(rest)
        rest = min(rest * 1.5, LONGEST_REST_SECONDS)
        try:
            while True:
                with _guard:
                    if not _owed:
                        _payer = None
                        break
                    write = _owed[0]
                _make(write)
                written += 1
                with _guard:
                    if _owed and _owed[0] is write:
                        _owed.popleft()
        except (OperationalError, InterfaceError):
            continue
        finally:
            connections.close_all()
        logger.info("owed writes are made: count=%d", written)
        return


def _make(write: Write) -> None:
    """Write; what the database refuses for what it is will not be taken later either."""
    try:
        write()
    except (OperationalError, InterfaceError):
        raise
    except Error as error:
        logger.warning("an owed write is given up (%s)", type(error).__name__)
