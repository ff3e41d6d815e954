"""Every call of a model on the record: also failed, retried, late and empty ones."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from uuid import UUID

from django.db import Error, connection

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

FREE_OUTCOMES = ("http_", "rate_limited", "no_quota", "too_long")
"""Refused before any work was done: costs nothing. Anything else that failed costs unknown."""

WRITE_ATTEMPTS = 2
"""A record is written once more on a fresh connection when the first one was lost."""


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
    if attempt.input_tokens is None and attempt.outcome.startswith(FREE_OUTCOMES):
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
    for number in range(WRITE_ATTEMPTS):
        try:
            ModelCall.objects.bulk_create(calls)
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
