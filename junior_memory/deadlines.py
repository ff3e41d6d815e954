"""Time limits that hold whatever the database does: for one statement, and for a whole answer.

A statement's limit is the server's own. A server that answers nothing at all (stopped, cut off)
keeps no limit, so a watchdog closes the socket under a statement that outlives the deadline.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import DEFAULT_DB_ALIAS, Error, connections, transaction

from junior_memory.alarms import set_alarm
from junior_memory.errors import Unavailable

GRACE_MS = 15
"""Kept back from a statement's limit, so that the server's refusal arrives before the deadline."""


class DeadlinePassed(Exception):
    """The time is over. Internal: callers answer with what they have, or nothing."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment of the monotonic clock by which an answer must have left."""

    ends_at: float

    @classmethod
    def after(cls, milliseconds: float, *, started_at: float | None = None) -> Deadline:
        """Return the deadline that many milliseconds after `started_at` (monotonic) or now."""
        begin = time.monotonic() if started_at is None else started_at
        return cls(begin + milliseconds / 1000)

    @property
    def remaining_ms(self) -> float:
        """Milliseconds left; negative when it has passed."""
        return (self.ends_at - time.monotonic()) * 1000

    def check(self) -> None:
        """Raise DeadlinePassed when the time is over."""
        if self.remaining_ms <= 0:
            raise DeadlinePassed

    def statement_ms(self) -> int:
        """Return what one statement may take; raises DeadlinePassed when that is nothing."""
        left = int(self.remaining_ms) - GRACE_MS
        if left <= 0:
            raise DeadlinePassed
        return left


def raw_connection() -> Any:
    """Return the driver's connection of this thread, or None; to be asked later if it is lost."""
    return connections[DEFAULT_DB_ALIAS].connection


def is_lost(raw: Any) -> bool:
    """True when a connection is gone, not just one statement on it.

    Asked of the driver's connection, because Django opens the next one while it cleans up.
    """
    return raw is None or bool(raw.closed)


@contextlib.contextmanager
def statement_limit(milliseconds: int) -> Iterator[None]:
    """Let every statement inside take at most that long; one that does not is an OperationalError.

    Also inside a transaction: what was set before is set again afterwards.
    """
    wrapper = connections[DEFAULT_DB_ALIAS]
    is_inner = wrapper.in_atomic_block
    with transaction.atomic():
        with wrapper.cursor() as cursor:
            if is_inner:
                cursor.execute(
                    "SELECT current_setting('statement_timeout'),"
                    " current_setting('plan_cache_mode')"
                )
                before = cursor.fetchone()
            # Spelled out, in one go: a statement with parameters takes twice as long to send. What
            # is prepared (`parts.fetch_prepared`) is planned once, not for each set of values.
            cursor.execute(
                f"SET LOCAL statement_timeout = {max(1, int(milliseconds))};"
                " SET LOCAL plan_cache_mode = force_generic_plan"
            )
        yield
        if not is_inner:
            return
        with wrapper.cursor() as cursor:
            cursor.execute(
                "SELECT set_config('statement_timeout', %s, true),"
                " set_config('plan_cache_mode', %s, true)",
                before,
            )


@contextlib.contextmanager
def held_to(deadline: Deadline, *, limit_ms: int | None = None) -> Iterator[None]:
    """Hold all database work inside to a deadline, also when the server hangs.

    One statement may take `limit_ms`, or all the time that is left. Raises DeadlinePassed when
    connecting or a statement outlived it, Unavailable when there is no database to talk to.
    """
    _connect(deadline)
    raw = raw_connection()
    try:
        allowed_ms = deadline.statement_ms()
        with _watchdog(deadline), statement_limit(min(limit_ms or allowed_ms, allowed_ms)):
            yield
    except Error:
        if deadline.remaining_ms <= GRACE_MS * 2:
            raise DeadlinePassed from None
        if is_lost(raw):
            raise Unavailable from None
        raise


def _connect(deadline: Deadline) -> None:
    """Open the request's connection in time, or leave it to a thread that nobody waits for."""
    wrapper = connections[DEFAULT_DB_ALIAS]
    if wrapper.connection is not None:
        return
    failed: list[BaseException] = []
    handover = threading.Lock()
    is_late = False

    def connect() -> None:
        try:
            wrapper.ensure_connection()
        except Error as error:
            failed.append(error)
        with handover:
            if is_late:
                # Nobody waits for it any more: back to the pool, or the pool runs dry.
                wrapper.close()

    wrapper.inc_thread_sharing()
    thread = threading.Thread(target=connect, name="connect", daemon=True)
    thread.start()
    thread.join(max(0.0, deadline.remaining_ms / 1000))
    with handover:
        is_late = wrapper.connection is None and not failed
    if is_late:
        # The wrapper belongs to the late thread from here on; this one makes itself a new one.
        del connections[DEFAULT_DB_ALIAS]
        raise DeadlinePassed
    wrapper.dec_thread_sharing()
    if failed:
        raise Unavailable from None


@contextlib.contextmanager
def _watchdog(deadline: Deadline) -> Iterator[None]:
    """Close the connection's socket when the deadline passes while a statement still runs.

    The statement is not cancelled as well: its own limit ends it on a server that listens, and
    asking one that does not would stop every thread of this process until it does.
    """
    raw = raw_connection()
    over = threading.Lock()
    done = bitten = False

    def bite() -> None:
        nonlocal bitten
        with over:
            if done or raw is None or raw.closed:
                return
            bitten = True
            with contextlib.suppress(OSError), socket.socket(fileno=os.dup(raw.fileno())) as end:
                end.shutdown(socket.SHUT_RDWR)

    alarm = set_alarm(deadline.ends_at, bite)
    try:
        yield
    finally:
        with over:
            done = True
        alarm.call_off()
        if bitten and raw is not None:
            # Cut between two statements it would look whole, and the pool would lend it again.
            raw.close()
