"""Tool-call ids: claimed before a model is asked, so that any number of repeats are one call.

A claim is a row. Whoever makes it does the work; everyone else waits for what it comes to. The end
is written in the transaction that stores the memory; a claim that outlives its time is taken over.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import Error, connection, transaction

from junior_memory import clock, fingerprints
from junior_memory.conf import conf
from junior_memory.database.away import is_database_away
from junior_memory.errors import JuniorMemoryError, Unavailable
from junior_memory.models import Agent, Memory, ToolCall
from junior_memory.owed import owe
from junior_memory.tools.errors import StillRunning

logger = logging.getLogger(__name__)

FAILED = "failed:"
"""What an outcome begins with that a later call may try again."""
REJECTED = "rejected:"
"""What an outcome begins with that stands: the review said no, with the reason after it."""

SPARE_SECONDS = 15.0
"""What a call may take beside its model before its claim counts as abandoned."""
KEPT_DAYS = 30
CLEARED_AT_ONCE = 1000
"""How long the end of a call is kept, and how many are cleared in one go."""

FIRST_REST_SECONDS = 0.05
LONGEST_REST_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to do the work of one call; lost when somebody else has taken it over."""

    key_hash: str
    claimed_at: datetime


@dataclass(frozen=True, slots=True)
class Finished:
    """What an earlier call with this id came to."""

    outcome: str
    memory: Memory | None

    @property
    def failed_with(self) -> str:
        """The code of the error that ended it; empty when it came to something."""
        return self.outcome.removeprefix(FAILED) if self.outcome.startswith(FAILED) else ""

    @property
    def rejected_for(self) -> str:
        """Why its review said no; empty when it did not."""
        return self.outcome.removeprefix(REJECTED) if self.outcome.startswith(REJECTED) else ""


def call_seconds() -> float:
    """Return what a call may take with its models: one question, and once more what failed."""
    return 2 * conf().model_timeout_ms / 1000


def claim_lifetime_seconds() -> float:
    """Return how old a claim may grow before it counts as abandoned and is taken over."""
    return call_seconds() + SPARE_SECONDS


def claim_call(
    key: Sequence[str],
    *,
    tool: str,
    agent: Agent,
    is_spent: Callable[[Finished], bool],
) -> Claim | Finished:
    """Claim one call, or wait for what another call with its id comes to.

    A finished call that `is_spent` says counts no more is begun anew; so is one that had failed
    before this one came. Raises StillRunning when the other one does not end in time.
    """
    hashes = fingerprints.keyed_all("tool-call", *key)
    ends_at = time.monotonic() + claim_lifetime_seconds()
    rest = FIRST_REST_SECONDS
    has_waited = False
    while True:
        now = clock.now()
        row = ToolCall.objects.filter(key_hash__in=hashes).select_related("memory").first()
        if row is None:
            row, is_mine = ToolCall.objects.get_or_create(
                key_hash=hashes[0], defaults={"tool": tool, "agent": agent, "claimed_at": now}
            )
            if is_mine:
                return Claim(row.key_hash, row.claimed_at)
        finished = Finished(row.outcome, row.memory)
        if row.finished_at is not None:
            # A database that was away says nothing about the call: also who waited does it anew.
            was_away = finished.failed_with == Unavailable.code
            had_failed = was_away or (bool(finished.failed_with) and not has_waited)
            if not had_failed and not is_spent(finished):
                return finished
        if row.finished_at is not None or _is_abandoned(row, now):
            claim = _take_over(row, now)
            if claim is not None:
                return claim
            continue
        if time.monotonic() >= ends_at:
            raise StillRunning
        has_waited = True
        let_go_of_connection()
        time.sleep(rest)
        rest = min(rest * 1.5, LONGEST_REST_SECONDS)


def _is_abandoned(row: ToolCall, now: datetime) -> bool:
    return row.claimed_at < now - timedelta(seconds=claim_lifetime_seconds())


def _take_over(row: ToolCall, now: datetime) -> Claim | None:
    """Claim a row as it was read; None when somebody else was faster."""
    taken = ToolCall.objects.filter(
        pk=row.pk, claimed_at=row.claimed_at, finished_at=row.finished_at
    ).update(claimed_at=now, finished_at=None, outcome="", memory=None)
    return Claim(row.pk, now) if taken else None


def finish_call(claim: Claim, outcome: str, *, memory: Memory | None = None) -> None:
    """Write what a call came to, inside the transaction that did it.

    Raises StillRunning when the claim was taken over meanwhile: nothing of it may be kept then.
    """
    if not _end(claim, outcome, memory):
        raise StillRunning


def _end(claim: Claim, outcome: str, memory: Memory | None) -> bool:
    mine = ToolCall.objects.filter(
        pk=claim.key_hash, claimed_at=claim.claimed_at, finished_at__isnull=True
    )
    return bool(mine.update(finished_at=clock.now(), outcome=outcome[:64], memory=memory))


@contextmanager
def work_of(claim: Claim) -> Iterator[None]:
    """Do the work of a call; what ends it with an error lets the next one try again.

    Only its code is kept. When that cannot be written now, it is owed; the claim of a process that
    died ends by its age.
    """
    try:
        yield
    except Exception as error:
        if is_database_away(error):
            code = Unavailable.code
        else:
            code = error.code if isinstance(error, JuniorMemoryError) else type(error).__name__
        try:
            with transaction.atomic():
                _end(claim, FAILED + code, None)
        except Error as failure:
            logger.warning("a tool call's end is not recorded yet (%s)", type(failure).__name__)
            owe(lambda: _end(claim, FAILED + code, None))
        raise


def clear_old_calls(*, now: datetime) -> int:
    """Delete what calls came to long ago; returns how many. Their memories still answer by key."""
    edge = now - timedelta(days=KEPT_DAYS)
    old = ToolCall.objects.filter(claimed_at__lt=edge).values_list("pk", flat=True)
    return ToolCall.objects.filter(pk__in=list(old[:CLEARED_AT_ONCE])).delete()[0]


def let_go_of_connection() -> None:
    """Give the connection back while nobody needs it: waiting and models take their time."""
    if not connection.in_atomic_block:
        connection.close()
