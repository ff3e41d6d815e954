"""Every call of a model on the record: also failed, retried, late and empty ones."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from uuid import UUID

from django.db import Error, IntegrityError, connection, connections

from junior_memory import clock
from junior_memory.beside import HEAD_START_SECONDS, for_records, in_thread
from junior_memory.models import Agent, CompletedSession, ModelCall
from junior_memory.owed import owe
from junior_memory.pricing import price_of
from junior_memory.providers import Attempt, ModelName
from junior_memory.providers.base import OPEN

logger = logging.getLogger(__name__)

EMBED = "embed"
REVIEW = "review"
EXTRACTION = "extraction"
ADJUDICATION = "adjudication"
RELEVANCE = "relevance"
CHECK = "check"

FREE_OUTCOMES = ("http_", "rate_limited", "no_quota", "too_long", "form_refused")
"""Refused before any work was done: costs nothing. Anything else that failed costs unknown."""

MAYBE_PAID = frozenset({"http_408", "http_502", "http_504", "http_524"})
"""A gateway that gave up on a model that may have answered it: costs unknown."""

WRITE_ATTEMPTS = 2
"""A record is written once more on a fresh connection when the first one was lost."""

WRITE_SECONDS = 2.0
"""How long a record beside a transaction, or beside its request, is waited for."""

SPARE_SECONDS = 0.05
"""How often one that waits for a connection to spare looks whether its request has ended."""


@dataclass(frozen=True, slots=True)
class OnBehalf:
    """For whom a model is called, for the record; `calls` collects what that cost."""

    agent: Agent | None = None
    recall_id: UUID | None = None
    session: CompletedSession | None = None
    tool_call_key: str = ""
    calls: list[ModelCall] = field(default_factory=list)

    @property
    def has_time(self) -> bool:
        """True where a write before the question leaves is in nobody's way; a recall has none."""
        return self.session is not None or bool(self.tool_call_key)


COMPLETED = (
    "input_tokens",
    "cached_input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cost_usd",
    "outcome",
    "duration_ms",
)
"""What is known only once a call has ended."""


class OpenCall:
    """A request on the record as one that nobody has heard of: before it leaves, or beside it."""

    def __init__(self, call: ModelCall) -> None:
        self.call = call
        self._is_over = threading.Event()
        self._turn = threading.Lock()
        self._is_begun = False
        self._is_there = False
        self._thread: threading.Thread | None = None

    def write(self) -> None:
        """Write the record before anything leaves."""
        self._is_begun = True
        self._is_there = _apart(lambda: _insert_open(self.call))

    def write_beside(self) -> None:
        """Let the request leave, and write the record while it is under way."""
        with suppress(RuntimeError):
            self._thread = in_thread(self._write_in_turn, name="the record of a call")

    def _write_in_turn(self) -> None:
        if self._is_over.wait(HEAD_START_SECONDS):
            return
        while not for_records.acquire(timeout=SPARE_SECONDS):
            if self._is_over.is_set():
                return
        try:
            with self._turn:
                self._is_begun = not self._is_over.is_set()
            if self._is_begun:
                self._is_there = _insert_open(self.call)
        finally:
            connections.close_all()
            for_records.release()

    def is_kept(self) -> bool:
        """True when there is a record to complete; one that is not begun by now is not written."""
        self._is_over.set()
        with self._turn:
            is_begun = self._is_begun
        if is_begun and self._thread is not None:
            self._thread.join(WRITE_SECONDS)
            return self._is_there or self._thread.is_alive()
        return self._is_there


def open_call(
    name: ModelName,
    on_behalf: OnBehalf | None,
    *,
    operation: str,
    is_awaited: bool = True,
) -> OpenCall:
    """Put a request on the record as one that nobody has heard of, in case nobody ever does.

    So a call is there also when its process is killed. Where nobody waits for the answer before a
    run, the record is there before the request leaves. Else it is written while that is under way,
    and costs the answer nothing: what a process takes along that is killed is what left in its last
    few milliseconds. `record_attempts` completes it, and `drop_call` takes it back when nothing was
    sent.
    """
    payer = on_behalf or OnBehalf()
    call = _call(name, Attempt(OPEN, 0), payer, operation)
    call.cost_usd = None
    opened = OpenCall(call)
    if payer.has_time or not is_awaited:
        opened.write()
    elif not connection.in_atomic_block:
        opened.write_beside()
    return opened


def drop_call(opened: OpenCall) -> None:
    """Take a record back whose request never left."""
    try:
        if opened.is_kept():
            ModelCall.objects.filter(pk=opened.call.pk).delete()
    except Error as error:
        logger.warning("a request that was not sent stays on record (%s)", type(error).__name__)


def record_attempts(
    name: ModelName,
    attempts: Sequence[Attempt],
    on_behalf: OnBehalf | None = None,
    *,
    operation: str = EMBED,
    opened: OpenCall | None = None,
) -> list[ModelCall]:
    """Write what was paid for; a record that cannot be written fails nobody, and is owed.

    The first attempt completes the record that was `opened` for it.
    """
    if not attempts:
        return []
    payer = on_behalf or OnBehalf()
    calls = [_call(name, attempt, payer, operation) for attempt in attempts]
    if opened is not None:
        calls[0].pk, calls[0].created_at = opened.call.pk, opened.call.created_at
    if not _apart(lambda: _write(calls, has_opened=opened is not None and opened.is_kept())):
        owe(lambda: _insert_again(calls))
        return []
    payer.calls.extend(calls)
    return calls


def _call(name: ModelName, attempt: Attempt, payer: OnBehalf, operation: str) -> ModelCall:
    return ModelCall(
        operation=operation,
        provider=name.provider,
        model=name.model,
        input_tokens=attempt.input_tokens or 0,
        cached_input_tokens=attempt.cached_input_tokens or 0,
        output_tokens=attempt.output_tokens or 0,
        reasoning_tokens=attempt.reasoning_tokens or 0,
        cost_usd=_cost(name, attempt),
        outcome=attempt.outcome,
        duration_ms=attempt.duration_ms,
        agent=payer.agent,
        session=payer.session,
        recall_id=payer.recall_id,
        tool_call_key=payer.tool_call_key,
        created_at=clock.now(),
    )


def _cost(name: ModelName, attempt: Attempt) -> Decimal | None:
    is_free = attempt.outcome.startswith(FREE_OUTCOMES) and attempt.outcome not in MAYBE_PAID
    if attempt.input_tokens is None and is_free:
        return Decimal(0)
    return price_of(
        name.provider,
        name.model,
        input_tokens=attempt.input_tokens,
        cached_input_tokens=attempt.cached_input_tokens or 0,
        output_tokens=attempt.output_tokens or 0,
        reasoning_tokens=attempt.reasoning_tokens or 0,
    )


def _apart(write: Callable[[], bool]) -> bool:
    """Write records so that they stay, whatever becomes of the transaction around."""
    if not _is_in_transaction():
        return write()
    done: list[bool] = []
    thread = in_thread(lambda: done.append(write()), name="the record of a call")
    # One that is not done by then is written all the same, and no event owns it.
    thread.join(WRITE_SECONDS)
    return done == [True]


def _is_in_transaction() -> bool:
    """True inside a transaction that may still be taken back; a test's own does not count."""
    blocks = connection.atomic_blocks
    return bool(blocks) and not any(getattr(one, "_from_testcase", False) for one in blocks)


def _insert_open(call: ModelCall) -> bool:
    """Write a record that may be complete by now: what is there stays."""

    def write(_is_again: bool) -> None:
        with suppress(IntegrityError):
            call.save(force_insert=True)

    return _in_two_attempts(write, warning="a model call is not on record ahead (%s)")


def _write(calls: list[ModelCall], *, has_opened: bool) -> bool:
    def write(is_again: bool) -> None:
        # The lost connection may have written them after all.
        if len(calls) == 1 and not is_again:
            # The usual case, in one round trip: a model's answer waits for its record.
            if not (has_opened and _complete(calls[0])):
                calls[0].save(force_insert=True)
        elif is_again or has_opened:
            _insert_again(calls)
        else:
            ModelCall.objects.bulk_create(calls)

    return _in_two_attempts(write, warning="a model call is not recorded yet (%s)")


def _in_two_attempts(write: Callable[[bool], None], *, warning: str) -> bool:
    """Write, and again on a fresh connection where the first was lost; False when neither did."""
    for number in range(WRITE_ATTEMPTS):
        try:
            write(number > 0)
        except Error as error:
            if connection.in_atomic_block or number + 1 == WRITE_ATTEMPTS:
                logger.warning(warning, type(error).__name__)
                return False
            connection.close()
        else:
            return True
    return False


def _complete(call: ModelCall) -> bool:
    """Say of an opened record how its call came out; False when there is none."""
    known = {name: getattr(call, name) for name in COMPLETED}
    return bool(ModelCall.objects.filter(pk=call.pk).update(**known))


def _insert_again(calls: Sequence[ModelCall]) -> None:
    """Write records of which some may be there, opened or whole."""
    ModelCall.objects.bulk_create(
        calls, update_conflicts=True, unique_fields=["id"], update_fields=COMPLETED
    )


def mark(call: ModelCall, outcome: str) -> None:
    """Note what an answer turned out to be: it was written before anybody looked at it."""
    call.outcome = outcome
    try:
        ModelCall.objects.filter(pk=call.pk).update(outcome=outcome)
    except Error as error:
        logger.warning("a model call's outcome was not recorded (%s)", type(error).__name__)
