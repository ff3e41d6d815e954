"""Search legs: run at the same time, each with its own time limit, each failing alone."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db import DEFAULT_DB_ALIAS, Error, connections
from psycopg.errors import QueryCanceled

from junior_memory.beside import HEAD_START_SECONDS, in_thread, to_spare
from junior_memory.deadlines import Deadline, held_to, is_lost, raw_connection, statement_limit
from junior_memory.errors import Unavailable
from junior_memory.lexical.census import Scored
from junior_memory.lexical.leg import Plan
from junior_memory.parts import Part

logger = logging.getLogger(__name__)

REFUSAL_MS = 50
"""How long after its limit a leg is still waited for: the server's refusal is on its way."""


class LegFailed(Exception):
    """A leg that cannot answer now, for a reason outside the database. Carries no content."""


@dataclass(frozen=True, slots=True)
class LegAnswer:
    """What a leg found: ranked lists by name; the plan and the parts it searched explain words."""

    lists: Mapping[str, Sequence[Scored]]
    plan: Plan | None = None
    parts: Sequence[Part] = ()


@dataclass(frozen=True, slots=True)
class Leg:
    """One configured way to find memories. `find` talks to the database of its thread.

    `prepare` comes before and holds no connection while it waits; it raises LegFailed. `is_slow`
    says that it waits for somebody else.
    """

    name: str
    find: Callable[[], LegAnswer]
    prepare: Callable[[], None] | None = None
    is_slow: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """A leg without an answer; `is_late` when its time was over."""

    is_late: bool = False


@dataclass(frozen=True, slots=True)
class LegsAnswer:
    """What all legs found; the names of those that failed, and of these the ones that were late."""

    answers: Mapping[str, LegAnswer]
    degraded: tuple[str, ...] = ()
    late: tuple[str, ...] = ()

    @property
    def is_empty_handed(self) -> bool:
        """True when every leg failed."""
        return not self.answers


def may_part() -> bool:
    """True when legs may use connections of their own.

    Inside a transaction they may not: they would not see what it wrote.
    """
    return not connections[DEFAULT_DB_ALIAS].in_atomic_block


def lend_connection() -> None:
    """Give this thread's connection back to the pool, if there is one, until it is wanted again.

    Not inside a transaction.
    """
    wrapper = connections[DEFAULT_DB_ALIAS]
    if wrapper.settings_dict["OPTIONS"].get("pool"):
        wrapper.close()


def run_legs(
    legs: Sequence[Leg],
    *,
    limit_ms: int,
    apart: bool | None = None,
    deadline: Deadline | None = None,
    meanwhile: Callable[[LegAnswer], None] | None = None,
) -> LegsAnswer:
    """Run legs and name those that failed; each may take `limit_ms`.

    Apart (by default outside a transaction): the first on the caller's own connection, the others
    in threads at the same time, each on its own; none waits for another one's end. Else, or when
    connections run short, one after the other on the caller's. A `deadline` holds for the caller's
    connection also when the server hangs. `meanwhile` is called with the first leg's answer while a
    slow one is still waited for. Raises Unavailable when there is no database to talk to,
    DeadlinePassed.
    """
    is_apart = may_part() if apart is None else apart
    ends_at = time.monotonic() + (limit_ms + REFUSAL_MS) / 1000
    others = []
    for leg in legs[1:]:
        if is_apart and to_spare.acquire(blocking=False):
            # Where there is no thread to be had, a leg takes its turn as well.
            with contextlib.suppress(RuntimeError):
                others.append(_Elsewhere(leg, limit_ms))
    elsewhere = {other.leg.name for other in others}
    if any(other.leg.is_slow for other in others):
        time.sleep(HEAD_START_SECONDS)
    found = {
        leg.name: _attempt(leg, limit_ms, deadline) for leg in legs if leg.name not in elsewhere
    }
    first = found.get(legs[0].name) if legs else None
    is_waiting = any(other.leg.is_slow and other.is_busy for other in others)
    if meanwhile is not None and isinstance(first, LegAnswer) and is_waiting:
        with contextlib.suppress(Error):
            meanwhile(first)
    found |= {other.leg.name: other.answer_by(ends_at) for other in others}
    return _collected({leg.name: found[leg.name] for leg in legs})


class _Elsewhere:
    """A leg in a thread that nobody waits for longer than it may take.

    Made with a place of `to_spare`, which it gives back at its end.
    """

    def __init__(self, leg: Leg, limit_ms: int) -> None:
        self.leg = leg
        self._limit_ms = limit_ms
        self._found: LegAnswer | Failure = Failure(is_late=True)
        self._has_answered = threading.Event()
        in_thread(self._work, name=f"the {leg.name} leg", afterwards=to_spare.release)

    def _work(self) -> None:
        try:
            self._found = _attempt(self.leg, self._limit_ms)
        except Unavailable:
            self._found = Failure()
        except Exception:
            self._found = Failure()
            raise
        finally:
            self._has_answered.set()

    @property
    def is_busy(self) -> bool:
        return not self._has_answered.is_set()

    def answer_by(self, ends_at: float) -> LegAnswer | Failure:
        if not self._has_answered.wait(max(0.0, ends_at - time.monotonic())):
            logger.warning("the %s leg is late", self.leg.name)
            return Failure(is_late=True)
        return self._found


def _attempt(leg: Leg, limit_ms: int, deadline: Deadline | None = None) -> LegAnswer | Failure:
    begun = time.monotonic()
    try:
        if leg.prepare is not None:
            leg.prepare()
    except LegFailed as failure:
        logger.warning("the %s leg failed (%s)", leg.name, str(failure))
        return Failure()
    left_ms = limit_ms - int((time.monotonic() - begun) * 1000)
    if left_ms <= 0:
        logger.warning("the %s leg is late", leg.name)
        return Failure(is_late=True)
    raw = None
    try:
        with _limited(left_ms, deadline):
            raw = raw_connection()
            return leg.find()
    except Error as error:
        if is_lost(raw):
            raise Unavailable from None
        logger.warning("the %s leg failed (%s)", leg.name, type(error).__name__)
        return Failure(is_late=isinstance(error.__cause__, QueryCanceled))


@contextlib.contextmanager
def _limited(limit_ms: int, deadline: Deadline | None) -> Iterator[None]:
    if deadline is not None:
        with held_to(deadline, limit_ms=limit_ms):
            yield
        return
    try:
        connections[DEFAULT_DB_ALIAS].ensure_connection()
    except Error:
        raise Unavailable from None
    with statement_limit(limit_ms):
        yield


def _collected(found: Mapping[str, LegAnswer | Failure]) -> LegsAnswer:
    failed = {name: answer for name, answer in found.items() if isinstance(answer, Failure)}
    return LegsAnswer(
        answers={name: answer for name, answer in found.items() if isinstance(answer, LegAnswer)},
        degraded=tuple(failed),
        late=tuple(name for name, failure in failed.items() if failure.is_late),
    )
