"""Every call of a model on the record: also failed, retried, late and empty ones."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from uuid import UUID

from django.db import Error, connection, connections

from junior_memory import clock
from junior_memory.models import Agent, CompletedSession, ModelCall
from junior_memory.pricing import price_of
from junior_memory.providers import Attempt, ModelName

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
"""How long a record beside a transaction is waited for."""


@dataclass(frozen=True, slots=True)
class OnBehalf:
    """For whom a model is called, for the record; `calls` collects what that cost."""

    agent: Agent | None = None
    recall_id: UUID | None = None
    session: CompletedSession | None = None
    tool_call_key: str = ""
    calls: list[ModelCall] = field(default_factory=list)


def record_attempts(
    name: ModelName,
    attempts: Sequence[Attempt],
    on_behalf: OnBehalf | None = None,
    *,
    operation: str = EMBED,
) -> list[ModelCall]:
    """Write what was paid for; a record that cannot be written fails nobody."""
    if not attempts:
        return []
    payer = on_behalf or OnBehalf()
    now = clock.now()
    calls = [
        ModelCall(
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
            created_at=now,
        )
        for attempt in attempts
    ]
    if not _write(calls):
        return []
    payer.calls.extend(calls)
    return calls


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


def _write(calls: list[ModelCall]) -> bool:
    """Write records so that they stay, whatever becomes of the transaction around."""
    if not _is_in_transaction():
        return _insert(calls)
    done: list[bool] = []

    def write() -> None:
        try:
            done.append(_insert(calls))
        finally:
            connections.close_all()

    thread = threading.Thread(target=write, name="model call record", daemon=True)
    thread.start()
    # One that is not done by then is written all the same, and no event owns it.
    thread.join(WRITE_SECONDS)
    return done == [True]


def _is_in_transaction() -> bool:
    """True inside a transaction that may still be taken back; a test's own does not count."""
    blocks = connection.atomic_blocks
    return bool(blocks) and not any(getattr(one, "_from_testcase", False) for one in blocks)


def _insert(calls: list[ModelCall]) -> bool:
    for number in range(WRITE_ATTEMPTS):
        try:
            # The lost connection may have written them after all.
            if len(calls) == 1 and not number:
                # The usual case, in one round trip: a model's answer waits for its record.
                calls[0].save(force_insert=True)
            else:
                ModelCall.objects.bulk_create(calls, ignore_conflicts=number > 0)
        except Error as error:
            if connection.in_atomic_block or number + 1 == WRITE_ATTEMPTS:
                logger.warning("a model call was not recorded (%s)", type(error).__name__)
                return False
            connection.close()
            continue
        return True
    return False


def mark(call: ModelCall, outcome: str) -> None:
    """Note what an answer turned out to be: it was written before anybody looked at it."""
    call.outcome = outcome
    try:
        ModelCall.objects.filter(pk=call.pk).update(outcome=outcome)
    except Error as error:
        logger.warning("a model call's outcome was not recorded (%s)", type(error).__name__)
