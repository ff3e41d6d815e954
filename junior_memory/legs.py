"""Search legs: run at the same time, each with its own time limit, each failing alone."""

from __future__ import annotations

import contextvars
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from django.db import DEFAULT_DB_ALIAS, Error, connections
from psycopg.errors import QueryCanceled

from junior_memory.deadlines import is_lost, raw_connection, statement_limit
from junior_memory.errors import Unavailable
from junior_memory.lexical.leg import Plan, Scored
from junior_memory.parts import Part

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LegAnswer:
    """What a leg found: ranked lists by name; the plan and the parts it searched explain words."""

    lists: Mapping[str, Sequence[Scored]]
    plan: Plan | None = None
    parts: Sequence[Part] = ()


@dataclass(frozen=True, slots=True)
class Leg:
    """One configured way to find memories. `find` talks to the database of its thread."""

    name: str
    find: Callable[[], LegAnswer]


@dataclass(frozen=True, slots=True)
class LegsAnswer:
    """What all legs found; the names of those that failed, and of these the ones that were late."""

    answers: Mapping[str, LegAnswer]
    degraded: tuple[str, ...] = ()
    late: tuple[str, ...] = ()


def run_legs(legs: Sequence[Leg], *, limit_ms: int) -> LegsAnswer:
    """Run legs at once and name those that failed; each statement may take `limit_ms`.

    A single leg runs on the caller's own connection; several run in threads, each on its own.
    Raises Unavailable when there is no database to talk to.
    """
    if len(legs) == 1:
        return _collected({legs[0].name: _attempt(legs[0], limit_ms)})
    with ThreadPoolExecutor(max_workers=len(legs), thread_name_prefix="leg") as pool:
        running: dict[str, Future[LegAnswer | Error]] = {
            leg.name: pool.submit(contextvars.copy_context().run, _attempt_in_thread, leg, limit_ms)
            for leg in legs
        }
        return _collected({name: future.result() for name, future in running.items()})


def _attempt(leg: Leg, limit_ms: int) -> LegAnswer | Error:
    try:
        connections[DEFAULT_DB_ALIAS].ensure_connection()
    except Error:
        raise Unavailable from None
    raw = raw_connection()
    try:
        with statement_limit(limit_ms):
            return leg.find()
    except Error as error:
        if is_lost(raw):
            raise Unavailable from None
        logger.warning("the %s leg failed (%s)", leg.name, type(error).__name__)
        return error


def _attempt_in_thread(leg: Leg, limit_ms: int) -> LegAnswer | Error:
    try:
        return _attempt(leg, limit_ms)
    finally:
        connections.close_all()


def _collected(found: Mapping[str, LegAnswer | Error]) -> LegsAnswer:
    answers = {name: answer for name, answer in found.items() if isinstance(answer, LegAnswer)}
    failed = {name: answer for name, answer in found.items() if isinstance(answer, Error)}
    return LegsAnswer(
        answers=answers,
        degraded=tuple(failed),
        late=tuple(
            name for name, error in failed.items() if isinstance(error.__cause__, QueryCanceled)
        ),
    )
